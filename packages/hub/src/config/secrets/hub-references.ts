/**
 * References `${hub:<name>}` to secrets that the hub keeps in its store. The configuration is read before the store is open, so
 * they stay in it as they are written. Their values replace them when an agent opens.
 */
import type { ConfigPath } from '../config-problem.ts'
import { agentFields } from '../sections/agent-fields.ts'

export const hubScheme = 'hub'
export const hubSecretName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
export const hubSecretNameText = 'must have up to 100 letters, digits, dots, dashes and underscores'

const hubPattern = /\$\{hub:([^}]*)\}/g

export function hubReference(name: string): string {
  return `\${${hubScheme}:${name}}`
}

/** Says why a reference cannot be here; `undefined` if it can: in the settings of an agent that belong to its kind. */
export function hubReferenceProblem(name: string, path: ConfigPath): string | undefined {
  const [section, , setting] = path
  if (section !== 'agents')
    return `${hubReference(name)} cannot be used here: the hub reads this setting before it opens its store. Use \${env:NAME} or \${file:/run/secrets/name}`
  if (setting === undefined || Object.hasOwn(agentFields.shape, setting))
    return `${hubReference(name)} cannot be used here: it is for secrets in the settings of the agent's kind`
  return hubSecretName.test(name) ? undefined : `${hubReference(name)}: the name ${hubSecretNameText}`
}

/** Returns the names of all references within a value, once each. */
export function hubReferencesIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [...new Set([...value.matchAll(hubPattern)].map(([, name = '']) => name))]
  if (typeof value !== 'object' || value === null) return []
  return [...new Set(Object.values(value).flatMap(hubReferencesIn))]
}

/** The same value with the secrets in place of their references. A reference without a value stays. */
export function fillHubReferences<Value>(value: Value, secrets: ReadonlyMap<string, string>): Value {
  return (hubReferencesIn(value).length === 0 ? value : fill(value, secrets)) as Value
}

function fill(value: unknown, secrets: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string')
    return value.replaceAll(hubPattern, (whole, name: string) => secrets.get(name) ?? whole)
  if (Array.isArray(value)) return value.map((item) => fill(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, secrets)]))
}

/** For the operator: what is missing, and the command that sets it. */
export function missingSecretText(name: string): string {
  return `the secret ${hubReference(name)} is not set: set it with \`parley secret set ${name}\``
}
