/** OpenTelemetry attributes: the conventions for generative AI unchanged, our own under our prefix. */
import { isStruct } from '@parley/a2a'
import type { Attributes } from '@opentelemetry/api'
import type { Json, Struct } from '@parley/a2a'

const attributeNames: Readonly<Record<string, string>> = {
  taskId: 'a2a.task.id',
  state: 'a2a.task.state',
  messageId: 'a2a.message.id',
  idempotencyKey: 'a2a.message.id',
  childTaskId: 'a2a.child_task.id',
  artifactId: 'a2a.artifact.id',
  configId: 'a2a.push.config.id',
  error: 'error.message',
  said: 'parley.push.said',
}

export function otelAttributes(attributes: Struct): Attributes {
  return Object.fromEntries(Object.entries(attributes).flatMap(([name, value]) => pairsOf(nameOf(name), value)))
}

function nameOf(name: string): string {
  return attributeNames[name] ?? (name.includes('.') ? name : `parley.${snake(name)}`)
}

/** Objects are flattened by one level; deeper values become JSON. */
function pairsOf(name: string, value: Json): [string, string | number | boolean | string[] | number[]][] {
  if (value === null) return []
  if (typeof value !== 'object') return [[name, value]]
  if (Array.isArray(value)) return [[name, listOf(value)]]
  return Object.entries(value).flatMap(([inner, one]) => {
    const key = `${name}.${snake(inner)}`
    return isStruct(one) ? [[key, JSON.stringify(one)] as [string, string]] : pairsOf(key, one)
  })
}

function listOf(values: readonly Json[]): string[] | number[] {
  if (values.length > 0 && values.every((one) => typeof one === 'number')) return [...values]
  return values.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
}

function snake(name: string): string {
  return name.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase()
}
