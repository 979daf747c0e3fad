/** Fields shared by many routes: their format in a query and in a response. */
import { z } from 'zod'

/** A time in a response. */
export const timestamp = z.iso.datetime().describe('In UTC, such as 2030-01-31T12:00:00.000Z.')

/** A time in a query; parsed to milliseconds. */
export const timeQuery = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2030-01-31T12:00:00Z' })
  .transform((text) => Date.parse(text))

export function limitField(defaultLimit: number, max: number) {
  return z.coerce
    .number('must be a whole number')
    .int('must be a whole number')
    .min(1, 'must be a number above 0')
    .max(max, `ask for up to ${max}`)
    .default(defaultLimit)
    .describe(`How many at most. Default ${defaultLimit}.`)
}

/** A list: by repeating the field, or with commas. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.preprocess(
    (value) =>
      value === undefined
        ? undefined
        : [value].flat().flatMap((one) => (typeof one === 'string' ? one.split(',') : [one])),
    z.array(item),
  )
}

/** Names of agents, callers and contexts: any text, up to a length. */
export const nameField = z.string().min(1, 'is empty').max(1_024, 'is longer than 1024 characters')

/** Any JSON object. */
export const jsonObject = z.record(z.string(), z.unknown())
