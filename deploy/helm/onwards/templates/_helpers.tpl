{{- define "onwards.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "onwards.selector" -}}
app.kubernetes.io/name: onwards
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "onwards.labels" -}}
{{ include "onwards.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "onwards.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- /* Delay and drain, five seconds for the metrics listener, and what was chosen beyond. */ -}}
{{- define "onwards.gracePeriod" -}}
{{- $drain := add .Values.shutdown.delaySeconds .Values.shutdown.timeoutSeconds -}}
{{- $period := .Values.terminationGracePeriodSeconds | int | default (add $drain 55 | int) -}}
{{- $least := add $drain 5 | int -}}
{{- if lt $period $least -}}
{{- fail (printf "terminationGracePeriodSeconds is %d: the pod would be killed while it drains; at least %d, which is shutdown.delaySeconds + shutdown.timeoutSeconds + 5" $period $least) -}}
{{- end -}}
{{- $period -}}
{{- end -}}
