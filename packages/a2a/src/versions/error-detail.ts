/** Errors as 1.0 details them: typed objects of google.rpc, the same in JSON-RPC and REST (§3.3). */
import type { A2AError, ErrorDetails, Violation } from '../model/error.ts'
import { isBag } from './read.ts'
import type { Bag } from './read.ts'

const errorInfo = 'type.googleapis.com/google.rpc.ErrorInfo'
const badRequest = 'type.googleapis.com/google.rpc.BadRequest'

/** The strings among an error's details: everything but the violations. */
export function detailStrings(details: ErrorDetails): Record<string, string> {
  const strings: Record<string, string> = {}
  for (const [key, value] of Object.entries(details)) if (typeof value === 'string') strings[key] = value
  return strings
}

export function encodeDetails(error: A2AError): readonly Bag[] {
  const info = {
    '@type': errorInfo,
    reason: error.code,
    domain: 'a2a-protocol.org',
    metadata: detailStrings(error.details),
  }
  const { violations } = error.details
  return violations === undefined ? [info] : [info, { '@type': badRequest, fieldViolations: violations }]
}

export interface Found {
  readonly reason?: string
  readonly details: ErrorDetails
}

/** What can be learned from an `error.data` or `details`, whoever wrote it: an array of typed objects, or one free one. */
export function decodeDetails(data: unknown): Found {
  let reason: string | undefined
  let violations: readonly Violation[] | undefined
  const strings: Record<string, string> = {}
  for (const detail of Array.isArray(data) ? (data as unknown[]) : [data]) {
    if (!isBag(detail)) continue
    if (reason === undefined && typeof detail['reason'] === 'string') reason = detail['reason']
    violations ??= readViolations(detail['fieldViolations'] ?? detail['field_violations'] ?? detail['violations'])
    const typed = typeof detail['@type'] === 'string'
    keepStrings(strings, typed ? detail['metadata'] : detail, typed ? '' : 'reason')
  }
  const details: ErrorDetails = violations === undefined ? strings : { ...strings, violations }
  return reason === undefined ? { details } : { reason, details }
}

function keepStrings(into: Record<string, string>, from: unknown, except: string): void {
  if (!isBag(from)) return
  for (const [key, value] of Object.entries(from)) {
    if (key === except || key === '__proto__') continue
    if (typeof value === 'string') into[key] = value
    else if (typeof value === 'number' || typeof value === 'boolean') into[key] = String(value)
  }
}

function readViolations(given: unknown): readonly Violation[] | undefined {
  if (!Array.isArray(given)) return undefined
  return (given as unknown[]).filter(isBag).map((violation) => ({
    field: typeof violation['field'] === 'string' ? violation['field'] : '',
    description: typeof violation['description'] === 'string' ? violation['description'] : '',
  }))
}
