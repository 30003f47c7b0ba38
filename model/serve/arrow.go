package serve

import (
	"context"
	"net/http"
)

func (s *Server) arrow(ctx context.Context, w http.ResponseWriter, r *http.Request, f *served, media string) error {
	return faulty(http.StatusNotImplemented, "Arrow")
}
