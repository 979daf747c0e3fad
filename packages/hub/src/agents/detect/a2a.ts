/** Detects an A2A agent by its card, in the locations of older and newer protocol versions. */
import { A2AError, type AgentCard } from '@parley/a2a'
import { connect, type RemoteAgent } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import { targetUrl, isHttpUrl, urlWithoutQuery, createTimeLimit, agentNameFrom } from './detect.ts'
import type { DetectDeps, DetectorResult, Detector } from './detect.ts'
import { requiresAuthentication } from './diagnosis.ts'

export function a2aDetector(limitMs: number): Detector {
  return {
    kind: 'a2a',
    applies(target) {
      const url = targetUrl(target)
      return url !== undefined && isHttpUrl(url)
    },
    async detect(target, deps) {
      const url = targetUrl(target) as URL
      const limit = createTimeLimit(limitMs, deps.signal)
      try {
        const agent = await connect(url, {
          fetch: deps.fetch,
          signal: limit.signal,
          bindings: [grpc()],
          limits: { cardTimeoutMs: limitMs, attempts: 1 },
          ...(deps.token !== undefined ? { bearer: deps.token.value } : {}),
        })
        return detectionOf(agent, url, deps)
      } catch (reason) {
        const isAuth = reason instanceof A2AError && isRefused(reason)
        const diagnosis = isAuth ? requiresAuthentication(reason.details.status) : limit.diagnosis
        return { reasons: [rejectionReason(reason) ?? limit.reasonFor(reason)], diagnosis }
      }
    },
  }
}

function detectionOf({ card, interface: chosen }: RemoteAgent, url: URL, { token }: DetectDeps): DetectorResult {
  const bearer = token === undefined ? {} : { auth: { bearer: token.reference } }
  return {
    kind: 'a2a',
    name: agentNameFrom(card.name, url.hostname),
    entry: { url: url.search === '' ? urlWithoutQuery(url) : url.href, ...bearer },
    notes: [
      `${card.name} supports A2A ${chosen.protocolVersion} over ${chosen.protocolBinding}.`,
      ...(token === undefined ? credentialNotes(card) : []),
      ...originNotes(chosen.url, url),
    ],
  }
}

function credentialNotes({ securityRequirements = [], securitySchemes = {} }: AgentCard): readonly string[] {
  if (securityRequirements.length === 0) return []
  const schemes = Object.keys(securitySchemes).join(', ')
  return [`Its card requires credentials (${schemes}): set \`auth\` in the entry.`]
}

/** Addresses in a card come from its author: the hub does not follow them into an internal network. */
function originNotes(at: string, url: URL): readonly string[] {
  if (!URL.canParse(at) || new URL(at).origin === url.origin) return []
  return [`Its card names ${at}: if that is in a private network, set \`allowPrivate: true\` in the entry.`]
}

function isRefused(reason: A2AError): boolean {
  return reason.code === 'UNAUTHENTICATED' || reason.code === 'PERMISSION_DENIED'
}

function rejectionReason(reason: unknown): string | undefined {
  if (!(reason instanceof A2AError)) return undefined
  const { status } = reason.details
  if (isRefused(reason)) return 'its agent card requires credentials'
  if (status !== undefined) return `it has no agent card (${status})`
  return reason.code === 'CARD_NOT_FOUND' ? 'it has no agent card' : undefined
}
