// Package hub pushes models to registries and fetches them from registries and Hugging Face
// repositories. It also contains a small registry.
//
//	var c hub.Client
//	digest, err := c.Push(ctx, "search.model", "registry.example/team/search:v3")
//	dir, err := c.Fetch(ctx, "registry.example/team/search:v3")    // into the cache
//	err = c.Pull(ctx, "registry.example/team/search:v3", "search.model")
//	m, err := c.Open(ctx, "registry.example/team/search@"+digest)
//
// # References
//
//	registry.example/team/search:v3         a tag in an OCI registry, as for containers
//	registry.example/team/search@sha256:…   these bytes and no others
//	oci:folder:v3                           a tag in a folder in OCI's layout, for machines without a network
//	hf:org/name@revision                    a repository of Hugging Face, read-only; main without a revision
//
// A registry on the local machine (localhost, 127.0.0.1) is accessed over plain HTTP, all others over
// HTTPS unless [Client.PlainHTTP] is set. User names and passwords come from docker
// login and its credential helpers.
//
// # Format
//
// A model in a registry is a manifest of the CNCF's ModelPack specification. Each file
// is a layer of its own, without an archive around it, with its path in the annotations
// org.cncf.model.filepath and org.opencontainers.image.title, so that clients for
// artifacts write the files to the right places. The manifest has no timestamps: the same files
// have the same digest.
//
// # Cache
//
// Fetched models are stored below $TENON_HUB_CACHE, or else in the folder tenon/hub of the user's
// cache directory: blobs by their digests, and a folder of links to them for each model. Any
// number of programs can share one cache: a lock on each blob ensures that it is fetched once. An
// interrupted transfer continues in the next call or the next program.
// With [Client.Offline], the network is not used. Files from Hugging Face are stored in
// the layout of its own cache, below $HF_HUB_CACHE, $HF_HOME/hub or
// ~/.cache/huggingface/hub. Models that are already there are therefore found, and other
// programs find the models fetched here.
//
// # Safety
//
// The package does not trust registries. The caller gets a file only if its size and digest match the manifest,
// and the digest of the manifest matches the requested one. No memory is allocated for a length that is merely
// claimed; names must be paths inside the folder; no code is run. A file appears under its name only when all
// its bytes are there: after a full disk, or when the process ends at any moment, the previous file is still
// there, or none.
//
// Stability: experimental.
package hub
