// Package hub keeps models in registries, fetches them from there, and from repositories
// of Hugging Face, and is a small registry itself.
//
//	var c hub.Client
//	digest, err := c.Push(ctx, "search.model", "registry.example/team/search:v3")
//	dir, err := c.Fetch(ctx, "registry.example/team/search:v3")    // into the cache
//	err = c.Pull(ctx, "registry.example/team/search:v3", "search.model")
//	m, err := c.Open(ctx, "registry.example/team/search@"+digest)
//
// # References
//
//	registry.example/team/search:v3         a tag in a registry (of OCI, as for containers)
//	registry.example/team/search@sha256:…   these bytes and no others
//	oci:folder:v3                           a tag in a folder in OCI's layout, for machines without a network
//	hf:org/name@revision                    a repository of Hugging Face, read-only; main without a revision
//
// A registry on this machine (localhost, 127.0.0.1) is asked in plain HTTP, all others in
// HTTPS unless [Client.PlainHTTP] is set. User names and passwords are those that docker
// login has kept, with its helpers.
//
// # Format
//
// A model in a registry is a manifest of the ModelPack specification of the CNCF: each file
// is a layer as it is, without an archive around it, with its path in the annotations
// org.cncf.model.filepath and org.opencontainers.image.title, so that clients for
// artifacts put the files where they belong. The manifest has no time stamps: the same files
// have the same digest.
//
// # Cache
//
// What is fetched is kept below $TENON_HUB_CACHE, or else tenon/hub in the user's folder
// for caches: blobs by their digests, and a folder of links to them for each model. Any
// number of programs use one cache: a lock on each blob has it fetched once. A transfer that
// breaks off goes on from where it stopped, in the next call or the next program.
// With [Client.Offline] nothing is asked of a network. Files of Hugging Face are kept in
// the layout of its own cache, below $HF_HUB_CACHE, $HF_HOME/hub or
// ~/.cache/huggingface/hub, so that a model that a person already has is found, and other
// programs find what was fetched here.
//
// # Safety
//
// Nothing a registry says is trusted. Every file has the size and digest of the manifest,
// and that has the digest that was asked for, or none is given to the caller; lengths
// allocate nothing; names are paths inside the folder; no code is run. A name gets to its
// place only when its bytes are whole: a full disk, or an end of the process at any
// moment, leaves what was there before, or nothing.
//
// Stability: experimental.
package hub
