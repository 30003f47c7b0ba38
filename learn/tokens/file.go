package tokens

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/tenonml/tenon"
)

// maxFile is the largest file that Read takes.
const maxFile = 1 << 28

// Read returns the tokenizer that a tokenizer.json, the format of Hugging Face's tokenizers, describes: byte-pair
// encodings by bytes (GPT-2, Llama 3) or by characters, word pieces (BERT) and unigram models (T5, XLM-R), with their
// normalizers, pre-tokenizers and decoders. The tokens are those of that library without special tokens: those that a
// post-processor puts around a text are not added. Added tokens, including special ones, are found in the text.
//
// An unsupported part, such as a word-level model, is an error of kind tenon.ErrUnsupported that names it; a damaged
// file is one of kind tenon.ErrInvalid.
func Read(r io.Reader) (*Tokenizer, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, &tenon.Error{Op: readName, Err: err}
	}
	if len(b) > maxFile {
		return nil, invalid("the file has more than %d bytes", maxFile)
	}
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, invalid("not a tokenizer.json: %v", err)
	}
	p := &pipeline{}
	if err := p.readModel(f.Model); err != nil {
		return nil, err
	}
	if p.normalize, err = readNormalizer(f.Normalizer); err != nil {
		return nil, err
	}
	if p.divide, err = readDivision(f.PreTokenizer); err != nil {
		return nil, err
	}
	if p.join, err = readDecoder(f.Decoder); err != nil {
		return nil, err
	}
	if err := p.readAdded(f.Added); err != nil {
		return nil, err
	}
	return &Tokenizer{p}, nil
}

const readName = "tokens.Read"

func invalid(format string, args ...any) error {
	return tenon.NewError(tenon.ErrInvalid, readName, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return tenon.NewError(tenon.ErrUnsupported, readName, fmt.Sprintf(format, args...))
}

// file holds the parts of a tokenizer.json that are read.
type file struct {
	Added        []added         `json:"added_tokens"`
	Normalizer   json.RawMessage `json:"normalizer"`
	PreTokenizer json.RawMessage `json:"pre_tokenizer"`
	Decoder      json.RawMessage `json:"decoder"`
	Model        json.RawMessage `json:"model"`
}

// added is a token that is found in texts before they are split.
type added struct {
	ID         uint   `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	Left       bool   `json:"lstrip"` // includes the spaces before it
	Right      bool   `json:"rstrip"` // includes the spaces after it
	Normalized bool   `json:"normalized"`
}

// named returns the type of a part of a tokenizer.json.
func named(part json.RawMessage) (kind string, err error) {
	if len(part) == 0 || string(part) == "null" {
		return "", nil
	}
	var t struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(part, &t); err != nil {
		return "", invalid("%v", err)
	}
	if t.Type == "" {
		t.Type = "BPE" // for models in old files
	}
	return t.Type, nil
}

// readAs reads the settings of a part.
func readAs[T any](part json.RawMessage) (*T, error) {
	x := new(T)
	if err := json.Unmarshal(part, x); err != nil {
		return nil, invalid("%v", err)
	}
	return x, nil
}

// A vocabulary maps pieces to ids, and ids to pieces.
type vocabulary struct {
	ids    map[string]uint
	pieces map[uint]string
}

func newVocabulary(ids map[string]uint) (*vocabulary, error) {
	v := &vocabulary{ids, make(map[uint]string, len(ids))}
	if ids == nil {
		v.ids = map[string]uint{}
	}
	for piece, id := range ids {
		if id > math.MaxInt32 {
			return nil, invalid("the id %d of %q is too large", id, piece)
		}
		if _, ok := v.pieces[id]; ok {
			return nil, invalid("two tokens have the id %d", id)
		}
		v.pieces[id] = piece
	}
	return v, nil
}

func (p *pipeline) readModel(part json.RawMessage) error {
	kind, err := named(part)
	if err != nil {
		return err
	}
	switch kind {
	case "BPE":
		m, err := readPairs(part)
		if err != nil {
			return err
		}
		p.model, p.vocabulary = m, m.vocabulary
	case "WordPiece":
		m, err := readPieces(part)
		if err != nil {
			return err
		}
		p.model, p.vocabulary = m, m.vocabulary
	case "Unigram":
		m, err := readUnigram(part)
		if err != nil {
			return err
		}
		p.model, p.vocabulary = m, m.vocabulary
	case "":
		return invalid("there is no model")
	default:
		e := tenon.NewError(tenon.ErrUnsupported, readName, fmt.Sprintf("the model is %q", kind))
		e.Hint = `"BPE", "Unigram" and "WordPiece" are read`
		return e
	}
	return nil
}

func (p *pipeline) readAdded(list []added) error {
	for _, a := range list {
		switch own, ok := p.vocabulary.pieces[a.ID]; {
		case a.Content == "":
			return invalid("added token %d has no content", a.ID)
		case a.SingleWord:
			return unsupported("added token %q is for single words", a.Content)
		case ok && own != a.Content:
			return invalid("added token %q has the id of %q", a.Content, own)
		case a.ID > math.MaxInt32:
			return invalid("the id %d of %q is too large", a.ID, a.Content)
		}
		p.vocabulary.ids[a.Content], p.vocabulary.pieces[a.ID] = a.ID, a.Content
		if a.Normalized {
			if a.Content = p.normalized(a.Content); a.Content == "" {
				continue
			}
			p.late = append(p.late, a)
		} else {
			p.early = append(p.early, a)
		}
	}
	return nil
}
