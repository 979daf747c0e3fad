/**
 * Validates a well-formed request before any work starts: it is addressed to the agent by a user, within the limits, in media types
 * that the agent accepts. The codec of the version has checked the shapes; the checks here need the agent, or are the same for all
 * versions.
 */
import { A2AError, invalidParams, type Violation } from '../../model/error.ts'
import type { SendMessageRequest } from '../../model/operation.ts'
import type { Json, Message, Part, Struct } from '../../model/task.ts'
import type { AgentEntry, EngineLimits } from '../contract.ts'

export function validateSendRequest(request: SendMessageRequest, entry: AgentEntry, limits: EngineLimits): void {
  const { message, configuration, metadata } = request
  const violations = [
    ...checkRole(message),
    ...checkParts(message.parts, limits),
    ...checkDepth('message.metadata', message.metadata, limits.metadataDepth),
    ...checkDepth('metadata', metadata, limits.metadataDepth),
  ]
  if (violations.length > 0) throw invalidParams(violations)
  checkContextId(message.contextId)
  checkInputModes(message.parts, entry.inputModes)
  checkOutputModes(configuration?.acceptedOutputModes ?? [], entry.outputModes)
}

function checkRole({ role }: Message): Violation[] {
  return role === 'ROLE_USER'
    ? []
    : [{ field: 'message.role', description: 'must be the user: an agent does not send to itself' }]
}

function checkParts(parts: readonly Part[], limits: EngineLimits): Violation[] {
  if (parts.length > limits.parts)
    return [{ field: 'message.parts', description: `must not be more than ${limits.parts}` }]
  const violations: Violation[] = []
  parts.forEach((part, index) => {
    const field = `message.parts[${index}]`
    if ('url' in part && !isWebUrl(part.url))
      violations.push({ field: `${field}.url`, description: 'must be an absolute http(s) URL' })
    if ('data' in part) violations.push(...checkDepth(`${field}.data`, part.data, limits.metadataDepth))
    if (part.metadata !== undefined)
      violations.push(...checkDepth(`${field}.metadata`, part.metadata, limits.metadataDepth))
  })
  return violations
}

function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url)
}

function checkDepth(field: string, value: Json | undefined, max: number): Violation[] {
  return isNestedDeeper(value, max) ? [{ field, description: `must not be nested deeper than ${max} levels` }] : []
}

/** Descends at most `levels`, however deep the value is. Allocates nothing: a list of the values took six times as long. */
function isNestedDeeper(value: Json | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) if (isNestedDeeper(item, levels - 1)) return true
    return false
  }
  const fields = value as Struct
  for (const key in fields) if (isNestedDeeper(fields[key], levels - 1)) return true
  return false
}

/** B-56: an unacceptable context is rejected, never replaced. */
function checkContextId(contextId: string | undefined): void {
  if (contextId === undefined || /^[\w.:-]{1,256}$/.test(contextId)) return
  const description = 'must be 1 to 256 letters, digits or . : _ -'
  throw new A2AError('CONTEXT_REJECTED', `message.contextId ${description}`, {
    violations: [{ field: 'message.contextId', description }],
  })
}

/** B-70. */
function checkInputModes(parts: readonly Part[], modes: readonly string[]): void {
  if (modes.length === 0) return
  parts.forEach((part, index) => {
    const mediaType = mediaTypeOf(part)
    if (modes.some((mode) => matchesMediaType(mode, mediaType))) return
    throw new A2AError(
      'CONTENT_TYPE_NOT_SUPPORTED',
      `Incompatible content types: ${mediaType} is not supported by this agent`,
      {
        mediaType,
        partKind: 'text' in part ? 'text' : 'data' in part ? 'data' : 'file',
        supported: modes.join(', '),
        violations: [
          { field: `message.parts[${index}]`, description: `is ${mediaType}, which this agent does not accept` },
        ],
      },
    )
  })
}

/** B-69, for an agent that requires it: it produces no media type that the caller accepts, so nothing starts. */
function checkOutputModes(accepted: readonly string[], modes: readonly string[]): void {
  if (accepted.length === 0 || modes.length === 0) return
  if (accepted.some((wanted) => modes.some((mode) => matchesMediaType(wanted, mode) || matchesMediaType(mode, wanted))))
    return
  throw new A2AError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `Incompatible content types: not supported, this agent answers in ${modes.join(', ')}`,
    {
      supported: modes.join(', '),
      violations: [{ field: 'configuration.acceptedOutputModes', description: 'lists no output mode of this agent' }],
    },
  )
}

function mediaTypeOf(part: Part): string {
  if (part.mediaType !== undefined && part.mediaType !== '') return part.mediaType
  if ('text' in part) return 'text/plain'
  return 'data' in part ? 'application/json' : 'application/octet-stream'
}

/** Kinds of parts, which are no media types, but which many agents declare in place of them. */
const partKinds: ReadonlyMap<string, string> = new Map([
  ['text', 'text/*'],
  ['file', '*/*'],
  ['data', 'application/json'],
  ['json', 'application/json'],
])

/** Supports wildcards; ignores parameters and case. */
function matchesMediaType(pattern: string, mediaType: string): boolean {
  const wanted = normalizedMediaType(pattern)
  const given = normalizedMediaType(mediaType)
  if (wanted === given || wanted === '*/*' || wanted === '*') return true
  return wanted.endsWith('/*') && given.startsWith(wanted.slice(0, -1))
}

function normalizedMediaType(mode: string): string {
  const mediaType = (mode.split(';', 1)[0] as string).trim().toLowerCase()
  return partKinds.get(mediaType) ?? mediaType
}
