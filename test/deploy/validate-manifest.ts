/** Validates objects against the schemas beside this file. scripts/deploy-schemas.ts writes them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly [key: string]: unknown }
  readonly [key: string]: unknown
}

const readSchema = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'schemas', `${name}.json`), 'utf8')) as Record<string, unknown>

// The schemas use keywords of OpenAPI and of Go, which a validator may ignore.
const options = { strict: false, validateFormats: false, allErrors: true, logger: false } as const

const { kinds, definitions } = readSchema('kubernetes') as {
  readonly kinds: Readonly<Record<string, object>>
  readonly definitions: object
}
const ajv = new Ajv(options)
const validators = new Map<string, ValidateFunction>(
  Object.entries(kinds).map(([name, schema]) => [name, ajv.compile({ ...schema, definitions })]),
)
validators.set('monitoring.coreos.com/v1 ServiceMonitor', ajv.compile(readSchema('service-monitor')))

const compose = new Ajv2020(options).compile(readSchema('compose'))

/** The problems of an object of Kubernetes, one per line; none if it is valid. */
export function kubernetesProblems(object: KubernetesObject): readonly string[] {
  const name = `${object.apiVersion} ${object.kind}`
  const validate = validators.get(name)
  return validate === undefined ? [`there is no schema of ${name}`] : problemsOf(validate, object)
}

export function composeProblems(file: unknown): readonly string[] {
  return problemsOf(compose, file)
}

function problemsOf(validate: ValidateFunction, value: unknown): readonly string[] {
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath || '/', message, ...Object.values(params).map(String)].join(' '),
  )
}
