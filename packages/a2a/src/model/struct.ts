import type { Struct } from './task.ts'

/** Whether a JSON value, such as the result of `JSON.parse`, is an object: not null, not an array. */
export function isStruct(value: unknown): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The same fields; those that may be undefined are optional instead. */
export type OmitUndefined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/**
 * Returns an object without the fields that are `undefined`, because JSON and many readers treat a present field as set. On the
 * path of an event or a request, write `...(x !== undefined ? { x } : {})` instead, which makes no intermediate arrays.
 */
export function omitUndefined<T extends object>(value: T): OmitUndefined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as OmitUndefined<T>
}
