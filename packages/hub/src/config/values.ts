/**
 * The value grammars of the configuration: durations, rates, sizes, secrets, URLs. Error messages show the expected format. Agent
 * kinds use them for their own fields.
 */
import { urlOfAddress, versionIds } from '@parley/a2a/internal'
import { z } from 'zod'

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const perMs: Readonly<Record<string, number>> = { s: 1_000, sec: 1_000, min: 60_000, h: 3_600_000, hour: 3_600_000 }
const sizeBytes: Readonly<Record<string, number>> = { '': 1, B: 1, kB: 1_000, MB: 1_000_000, GB: 1_000_000_000 }

/** A hundred years: a time that much later is still a valid date. */
const maxDurationMs = 36_500 * 86_400_000

/** `30s`, `10m`, `7d`; parsed to milliseconds. */
export const duration = z
  .string(durationHint())
  .regex(/^\d+(\.\d+)?(ms|s|m|h|d)$/, durationHint())
  .transform(toMs)
  .refine(isPlausible, tooLong())
  .describe('A duration: 500ms, 30s, 10m, 12h or 7d.')

function durationHint(): string {
  return 'must be a duration with its unit, such as 30s, 10m, 12h or 7d'
}

function tooLong(): string {
  return 'must be at most 36500d'
}

function toMs(text: string): number {
  const [, count = '', unit = ''] = /^([\d.]+)([a-z]+)$/.exec(text) ?? []
  return Number(count) * (unitMs[unit] ?? 0)
}

function isPlausible(ms: number): boolean {
  return ms <= maxDurationMs
}

/** A duration, or `none`, which is parsed to `Infinity`. */
export const durationOrNone = z
  .string(durationHint())
  .regex(/^(none|\d+(\.\d+)?(ms|s|m|h|d))$/, `${durationHint()}, or none`)
  .refine((text) => text === 'none' || isPlausible(toMs(text)), tooLong())
  .transform((text) => (text === 'none' ? Infinity : toMs(text)))
  .describe('A duration such as 30s, 10m, 12h or 7d; or none.')

/** A duration, or `off`, which is parsed to 0. */
export const durationOrOff = z
  .string(`${durationHint()}, or off`)
  .regex(/^(off|\d+(\.\d+)?(ms|s|m|h|d))$/, `${durationHint()}, or off`)
  .transform((text) => (text === 'off' ? 0 : Math.round(toMs(text))))
  .refine(isPlausible, tooLong())
  .describe('A duration such as 30s, 10m, 12h or 7d; or off.')

const versionHint = `must be ${versionIds.join(', ')}`

/** A version of the protocol. */
export const protocolVersion = z
  .string(versionHint)
  .regex(/^\d+\.\d+$/, versionHint)
  .pipe(z.enum(versionIds, versionHint))

export interface Rate {
  readonly count: number
  readonly windowMs: number
}

/** `60/min`: a count per unit of time. */
export const rate = z
  .string(rateHint())
  .regex(/^[1-9]\d{0,8}\/(\d{1,4})?(s|sec|min|h|hour|d|day)$/, rateHint())
  .transform((text): Rate => {
    const [, count = '', times = '1', unit = ''] = /^(\d+)\/(\d*)([a-z]+)$/.exec(text) ?? []
    return { count: Number(count), windowMs: Number(times || 1) * (perMs[unit] ?? 86_400_000) }
  })
  .describe('A rate: 10/s, 60/min, 1000/h or 5000/day.')

function rateHint(): string {
  return 'must be a rate such as 10/s, 60/min, 1000/h or 5000/day'
}

/** `5MB` or a number of bytes; parsed to bytes. */
export const size = z
  .union(
    [
      z.int(sizeHint()).positive(sizeHint()),
      z
        .string()
        .regex(/^\d+(\.\d+)?(B|kB|MB|GB)$/, sizeHint())
        .transform((text) => {
          const [, count = '', unit = ''] = /^([\d.]+)([A-Za-z]*)$/.exec(text) ?? []
          return Math.round(Number(count) * (sizeBytes[unit] ?? 1))
        }),
    ],
    sizeHint(),
  )
  .describe('A size: 500kB, 20MB, or a number of bytes.')

function sizeHint(): string {
  return 'must be a size such as 500kB or 20MB, or a number of bytes'
}

/** Never printed. */
export const secret = z.string('must be a string, such as "${env:NAME}"').min(1, 'is empty').meta({ writeOnly: true })

/** `host:port[/path]` as a URL; any other text unchanged. */
export function withScheme(text: string): string {
  return /^(\[[\da-f:.]+\]|[\w.-]+):\d{1,5}([/?#]|$)/i.test(text) ? urlOfAddress(text) : text
}

/** An absolute http or https URL. `host:port` is one, too. */
export const httpUrl = z
  .string('must be a URL such as https://example.com')
  .overwrite(withScheme)
  .refine(isHttpUrl, 'give an http or https url such as https://example.com')
  .meta({ format: 'uri' })

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text)
}

export const nonEmpty = z.string().min(1, 'must not be empty: set a string, or remove it')

export const port = z
  .int('must be a whole number')
  .min(0, 'must be a number from 0 to 65535')
  .max(65_535, 'must be a number from 0 to 65535')

/** The format of gRPC addresses on cards. A scheme prefix is kept: older conformance kits accept only a URL. */
export const hostAndPort = z
  .string('must be host:port, such as agents.example.com:443')
  .regex(
    /^(https?:\/\/)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/,
    'must be host:port, such as agents.example.com:443',
  )
