package serve

import "net/http"

// grpc answers a call of the Open Inference Protocol over gRPC.
func (s *Server) grpc(w http.ResponseWriter, r *http.Request) {
	s.fail(w, faulty(http.StatusNotImplemented, "gRPC"))
}
