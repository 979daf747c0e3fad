/** Writing only what is there: an absent field leaves no key behind, in an object as in its JSON. */

/** Copies the fields that are set, under the same names and in this order. */
export function carry<T extends object>(
  into: Record<string, unknown>,
  from: T,
  ...keys: (keyof T & string)[]
): Record<string, unknown> {
  for (const key of keys) if (from[key] !== undefined) into[key] = from[key]
  return into
}
