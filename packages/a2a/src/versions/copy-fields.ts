/** Writes only fields that are set: an absent field leaves no key, neither in the object nor in its JSON. */

/** Copies the fields that are set, under the same names and in this order. */
export function copyFields<T extends object>(
  into: Record<string, unknown>,
  from: T,
  ...keys: (keyof T & string)[]
): Record<string, unknown> {
  for (const key of keys) if (from[key] !== undefined) into[key] = from[key]
  return into
}
