/** JSON of values that frameworks report: bounded, and never an exception. */
import type { Json } from '../model/task.ts'

/** The value as JSON text, cut after `maxLength` characters. */
export function boundedJson(value: unknown, maxLength: number): string {
  const text = typeof value === 'string' ? value : jsonText(value)
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`
}

/** As `boundedJson`, and says how many characters are left out. */
export function countedJson(value: unknown, maxLength: number): string {
  const text = typeof value === 'string' ? value : jsonText(value)
  const omitted = text.length - maxLength
  return omitted <= 0 ? text : `${text.slice(0, maxLength).toWellFormed()}… (${omitted} more characters)`
}

/** The value as JSON if its text is short, otherwise its text, cut. */
export function boundedValue(value: unknown, maxLength: number): Json {
  const text = jsonText(value)
  return text.length <= maxLength ? (JSON.parse(text) as Json) : boundedJson(value, maxLength)
}

/** A copy that is certainly JSON; what JSON cannot hold becomes text. */
export function toJson(value: unknown): Json {
  return JSON.parse(jsonText(value)) as Json
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return JSON.stringify(String(value))
  }
}
