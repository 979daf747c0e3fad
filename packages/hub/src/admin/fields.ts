/** Fields that many routes have: how they are written in a query, and how they look in an answer. */
import { z } from 'zod'

/** As answers tell times. */
export const instant = z.iso.datetime().meta({ description: 'In UTC, such as 2030-01-31T12:00:00.000Z.' })

/** As a query says a time; milliseconds when it is read. */
export const when = z.iso
  .datetime({ offset: true, error: 'give a time such as 2030-01-31T12:00:00Z' })
  .transform((text) => Date.parse(text))

export function limit(usual: number, most: number) {
  return z.coerce
    .number('give a whole number')
    .int('give a whole number')
    .min(1, 'give a number above 0')
    .max(most, `ask for up to ${most}`)
    .default(usual)
    .meta({ description: `How many at most. Default ${usual}.` })
}

/** Several values: by naming the field more than once, or with commas. */
export function several<Item extends z.ZodType>(item: Item) {
  return z.preprocess(
    (value) =>
      value === undefined
        ? undefined
        : [value].flat().flatMap((one) => (typeof one === 'string' ? one.split(',') : [one])),
    z.array(item),
  )
}

/** What agents, callers and contexts are called: anybody's text, within a bound. */
export const name = z.string().min(1, 'is empty').max(1_024, 'is longer than 1024 characters')

/** JSON as it is. */
export const json = z.record(z.string(), z.unknown())
