import type { Struct } from './task.ts'

/** Whether a JSON value, such as the result of `JSON.parse`, is an object: not null, not an array. */
export function isStruct(value: unknown): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
