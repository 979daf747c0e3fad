/** Error details of 1.0: typed objects of google.rpc, the same in JSON-RPC and REST (§3.3). */
import { isStruct } from '../model/struct.ts'
import type { A2AError, ErrorDetails, Violation } from '../model/error.ts'
import type { JsonRecord } from './read.ts'

const errorInfo = 'type.googleapis.com/google.rpc.ErrorInfo'
const badRequest = 'type.googleapis.com/google.rpc.BadRequest'

/** The strings among an error's details: everything but the violations. */
export function detailStrings(details: ErrorDetails): Record<string, string> {
  const strings: Record<string, string> = {}
  for (const [key, value] of Object.entries(details)) if (typeof value === 'string') strings[key] = value
  return strings
}

export function encodeDetails(error: A2AError): readonly JsonRecord[] {
  const info = {
    '@type': errorInfo,
    reason: error.code,
    domain: 'a2a-protocol.org',
    metadata: detailStrings(error.details),
  }
  const { violations } = error.details
  return violations === undefined ? [info] : [info, { '@type': badRequest, fieldViolations: violations }]
}

export interface DecodedDetails {
  readonly reason?: string
  readonly details: ErrorDetails
}

/** Decodes an `error.data` or `details` of any peer: an array of typed objects, or one free-form object. */
export function decodeDetails(data: unknown): DecodedDetails {
  let reason: string | undefined
  let violations: readonly Violation[] | undefined
  const strings: Record<string, string> = {}
  for (const detail of Array.isArray(data) ? (data as unknown[]) : [data]) {
    if (!isStruct(detail)) continue
    if (reason === undefined && typeof detail['reason'] === 'string') reason = detail['reason']
    violations ??= readViolations(detail['fieldViolations'] ?? detail['field_violations'] ?? detail['violations'])
    const typed = typeof detail['@type'] === 'string'
    keepStrings(strings, typed ? detail['metadata'] : detail, typed ? '' : 'reason')
  }
  const details: ErrorDetails = violations === undefined ? strings : { ...strings, violations }
  return reason === undefined ? { details } : { reason, details }
}

function keepStrings(into: Record<string, string>, from: unknown, except: string): void {
  if (!isStruct(from)) return
  for (const [key, value] of Object.entries(from)) {
    if (key === except || key === '__proto__') continue
    if (typeof value === 'string') into[key] = value
    else if (typeof value === 'number' || typeof value === 'boolean') into[key] = String(value)
  }
}

function readViolations(given: unknown): readonly Violation[] | undefined {
  if (!Array.isArray(given)) return undefined
  return (given as unknown[]).filter(isStruct).map((violation) => ({
    field: typeof violation['field'] === 'string' ? violation['field'] : '',
    description: typeof violation['description'] === 'string' ? violation['description'] : '',
  }))
}
