import type { Json, Struct } from './task.ts'

/** Whether a JSON value is an object: not null, not an array. */
export function isStruct(value: Json | undefined): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
