/**
 * `node scripts/deploy-schemas.ts`: writes the schemas that test/deploy validates the manifests of deploy/ against. They come from
 * released Go modules, so this needs Go and the network; the tests need neither. All three projects use the Apache License 2.0.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const modules = {
  kubernetes: 'k8s.io/kubernetes@v1.34.4',
  serviceMonitor: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
  compose: 'github.com/compose-spec/compose-go/v2@v2.16.2',
} as const

/** What the chart creates. */
const kinds = [
  'api.core.v1.ConfigMap',
  'api.core.v1.Pod',
  'api.core.v1.Service',
  'api.core.v1.ServiceAccount',
  'api.apps.v1.Deployment',
  'api.apps.v1.StatefulSet',
  'api.autoscaling.v2.HorizontalPodAutoscaler',
  'api.networking.v1.Ingress',
  'api.networking.v1.NetworkPolicy',
  'api.policy.v1.PodDisruptionBudget',
].map((name) => `io.k8s.${name}`)

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type Schema = Readonly<Record<string, Json>>

interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

const folder = join(import.meta.dirname, '../test/deploy/schemas')

/** The folder of a released module, which Go downloads and verifies. */
function moduleFolder(module: string): string {
  const text = execFileSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8' })
  return (JSON.parse(text) as { readonly Dir: string }).Dir
}

/**
 * Without descriptions, and closed: the API server ignores a field that it does not know, so that a misspelled one would go
 * unnoticed. Properties are names, not keywords: a property `description` stays.
 */
function reduce(value: Json, isProperties = false): Json {
  if (Array.isArray(value)) return value.map((item: Json) => reduce(item))
  if (value === null || typeof value !== 'object') return value
  const schema = value as Schema
  if (!isProperties && schema['x-kubernetes-int-or-string'] === true) return { type: ['string', 'integer'] }
  if (!isProperties && schema['format'] === 'int-or-string') return { type: ['string', 'integer'] }
  const kept = Object.entries(schema).filter(
    ([key]) => isProperties || (!['description', 'default', 'format'].includes(key) && !key.startsWith('x-kubernetes')),
  )
  const reduced = Object.fromEntries(
    kept.map(([key, item]) => [key, reduce(item, !isProperties && key === 'properties')]),
  )
  const isOpen = isProperties || reduced['properties'] === undefined || reduced['additionalProperties'] !== undefined
  return isOpen ? reduced : { ...reduced, additionalProperties: false }
}

function referenced(value: Json): string[] {
  if (value === null || typeof value !== 'object') return []
  if (Array.isArray(value)) return value.flatMap(referenced)
  return Object.entries(value as Schema).flatMap(([key, item]) =>
    key === '$ref' && typeof item === 'string' ? [item.replace('#/definitions/', '')] : referenced(item),
  )
}

function kubernetesSchemas(): Json {
  const file = join(moduleFolder(modules.kubernetes), 'api/openapi-spec/swagger.json')
  const { definitions } = JSON.parse(readFileSync(file, 'utf8')) as { definitions: Readonly<Record<string, Schema>> }
  const found = new Map<string, Json>()
  const visit = (name: string): void => {
    if (found.has(name)) return
    const schema = reduce(definitions[name] ?? {})
    found.set(name, schema)
    referenced(schema).forEach(visit)
  }
  kinds.forEach(visit)
  const named = kinds.map((name) => {
    const [first] = (definitions[name]?.['x-kubernetes-group-version-kind'] ??
      []) as unknown as readonly GroupVersionKind[]
    const { group, version, kind } = first ?? { group: '', version: '', kind: '' }
    return [`${group === '' ? '' : `${group}/`}${version} ${kind}`, { $ref: `#/definitions/${name}` }] as const
  })
  return {
    kinds: Object.fromEntries(named),
    definitions: Object.fromEntries([...found].sort(([one], [other]) => one.localeCompare(other))),
  }
}

function serviceMonitorSchema(): Json {
  const crds = 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml'
  const crd = parse(readFileSync(join(moduleFolder(modules.serviceMonitor), crds), 'utf8')) as {
    spec: { versions: { schema: { openAPIV3Schema: Json } }[] }
  }
  const schema = reduce(crd.spec.versions[0]?.schema.openAPIV3Schema ?? {}) as Schema
  // The definition leaves metadata to Kubernetes.
  return { ...schema, properties: { ...(schema['properties'] as Schema), metadata: { type: 'object' } } }
}

function composeSchema(): Json {
  const file = join(moduleFolder(modules.compose), 'schema/compose-spec.json')
  const { $schema, ...schema } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Json>
  return { $schema: $schema ?? '', ...(withoutDescriptions(schema) as Schema) }
}

/** The schema of compose is closed as it is. */
function withoutDescriptions(value: Json, isProperties = false): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withoutDescriptions(item))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value as Schema)
      .filter(([key]) => isProperties || key !== 'description')
      .map(([key, item]) => [key, withoutDescriptions(item, !isProperties && /^(pattern)?[pP]roperties$/.test(key))]),
  )
}

function write(name: keyof typeof modules, schema: Json): void {
  const $comment = `Reduced from ${modules[name]} (Apache License 2.0) by scripts/deploy-schemas.ts.`
  writeFileSync(
    join(folder, `${name === 'serviceMonitor' ? 'service-monitor' : name}.json`),
    JSON.stringify({ $comment, ...(schema as Schema) }),
  )
}

write('kubernetes', kubernetesSchemas())
write('serviceMonitor', serviceMonitorSchema())
write('compose', composeSchema())
