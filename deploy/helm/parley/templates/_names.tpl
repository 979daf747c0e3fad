{{/* Names and labels. */}}

{{- define "parley.name" -}}
{{- $name := ternary .Release.Name (printf "%s-parley" .Release.Name) (contains "parley" .Release.Name) -}}
{{- $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "parley.selector" -}}
app.kubernetes.io/name: parley
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "parley.labels" -}}
{{ include "parley.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "parley.image" -}}
{{- $repository := required "image.repository is required: the registry and the name that you pushed the image to" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" $repository .Values.image.digest }}
{{- else -}}
{{ printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end -}}
{{- end -}}

{{- define "parley.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "parley.name" .) }}
{{- end -}}

{{- define "parley.isPostgres" -}}
{{- if eq .Values.store.kind "postgres" -}}true{{- end -}}
{{- end -}}
