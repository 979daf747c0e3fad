/** What zod finds wrong, in the words of these routes. */
import type { ZodType } from 'zod'
import { RouteError } from './answer.ts'

/** Throws RouteError with every mistake, each with the path of its field. `where` is said of what is no field. */
export function check<T>(schema: ZodType<T>, value: unknown, where = 'body'): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const violations = read.error.issues.map(({ path, message }) => ({
    field: path.map(String).join('.') || where,
    description: message,
  }))
  const said = violations.map(({ field, description }) => `${field}: ${description}`).join('; ')
  throw new RouteError('INVALID_PARAMS', said, { violations })
}
