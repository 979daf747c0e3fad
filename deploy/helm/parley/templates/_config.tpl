{{/* parley.yaml, and what follows from it. */}}

{{- define "parley.scheme" -}}
{{- if dig "listen" "tls" "" .Values.config }}HTTPS{{ else }}HTTP{{ end -}}
{{- end -}}

{{/*
parley.yaml: the values, and over them what belongs to the pod. Secrets are references to files. gRPC is served at port 3001, the
default of the hub, which cards list only with a grpcUrl.
*/}}
{{- define "parley.config" -}}
{{- $listen := dict "listen" (dict "host" "0.0.0.0" "port" 3000) -}}
{{- $config := mergeOverwrite (deepCopy .Values.config) $listen -}}
{{- if not .Values.config.agents -}}
{{- $_ := set $config "agents" (dict "echo" (dict "kind" "demo" "agent" "echo")) -}}
{{- end -}}
{{- if .Values.ingress.enabled -}}
{{- $defaults := dict "publicUrl" (printf "https://%s" .Values.ingress.host) "trustProxy" true -}}
{{- if .Values.ingress.grpc.enabled -}}
{{- $_ := set $defaults "grpcUrl" (printf "%s:443" .Values.ingress.host) -}}
{{- end -}}
{{- /* `merge` would replace `trustProxy: false`, which it takes for a missing value. */ -}}
{{- range $key, $value := $defaults -}}
{{- if not (hasKey $config $key) -}}{{- $_ := set $config $key $value -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if .Values.existingSecret -}}
{{- $_ := mergeOverwrite $config (dict "admin" (dict "key" "${file:/run/secrets/parley/admin-key}")) -}}
{{- end -}}
{{- if include "parley.isPostgres" . -}}
{{- $_ := required "existingSecret is required with store.kind postgres: a secret with database-url, master-key and admin-key" .Values.existingSecret -}}
{{- $url := "${file:/run/secrets/parley/database-url}" -}}
{{- $_ := mergeOverwrite $config (dict "store" (dict "url" $url "masterKey" "${file:/run/secrets/parley/master-key}")) -}}
{{- end -}}
{{ toYaml $config }}
{{- end -}}
