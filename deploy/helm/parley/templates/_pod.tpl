{{/* The template of the pods. It meets the restricted profile of the Pod Security Standards. */}}
{{- define "parley.pod" -}}
metadata:
  labels:
    {{- include "parley.selector" . | nindent 4 }}
    app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # Some settings take effect only after a restart.
    checksum/config: {{ include "parley.config" . | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "parley.serviceAccount" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  # After preStop the hub gets SIGTERM. It drains for 5 s, hands over its tasks, and ends after 30 s in any case.
  terminationGracePeriodSeconds: {{ add .Values.shutdown.preStopSeconds 35 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: parley
      image: {{ include "parley.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      {{- with .Values.extraEnv }}
      env:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - name: http
          containerPort: 3000
        - name: grpc
          containerPort: 3001
      # A start may apply migrations first.
      startupProbe:
        httpGet: { path: /healthz, port: http, scheme: {{ include "parley.scheme" . }} }
        periodSeconds: 2
        failureThreshold: 150
      livenessProbe:
        httpGet: { path: /healthz, port: http, scheme: {{ include "parley.scheme" . }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      # A database may take two seconds before it counts as unavailable.
      readinessProbe:
        httpGet: { path: /readyz, port: http, scheme: {{ include "parley.scheme" . }} }
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 2
      {{- if .Values.shutdown.preStopSeconds }}
      lifecycle:
        preStop:
          sleep:
            seconds: {{ .Values.shutdown.preStopSeconds }}
      {{- end }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - name: config
          mountPath: /etc/parley
          readOnly: true
        - name: data
          mountPath: /var/lib/parley
        - name: tmp
          mountPath: /tmp
        {{- if .Values.existingSecret }}
        - name: secrets
          mountPath: /run/secrets/parley
          readOnly: true
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap:
        name: {{ include "parley.name" . }}
    - name: tmp
      emptyDir: {}
    {{- if include "parley.isPostgres" . }}
    - name: data
      emptyDir: {}
    {{- end }}
    {{- with .Values.existingSecret }}
    - name: secrets
      secret:
        secretName: {{ . }}
        defaultMode: 288 # 0440
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if include "parley.isPostgres" . }}
  topologySpreadConstraints:
    {{- with .Values.topologySpreadConstraints }}
    {{- toYaml . | nindent 4 }}
    {{- else }}
    {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "parley.selector" $ | nindent 10 }}
    {{- end }}
    {{- end }}
  {{- end }}
{{- end -}}
