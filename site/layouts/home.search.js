{{- $pages := slice -}}
{{- range site.RegularPages -}}
{{- $heads := slice -}}
{{- range findRE `(?m)^##+ .*$` .RawContent -}}{{- $heads = $heads | append (replaceRE `^#+ ` "" .) -}}{{- end -}}
{{- $pages = $pages | append (dict "title" (partial "title.html" .) "url" (strings.TrimPrefix "/" .RelPermalink) "heads" $heads "text" (htmlUnescape .Plain)) -}}
{{- end -}}
const pages = {{ $pages | jsonify }};
