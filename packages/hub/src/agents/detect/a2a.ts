/** An A2A agent: it has a card, wherever older and newer versions of the protocol put it. */
import { A2AError } from '@parley/a2a'
import type { AgentCard } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import type { RemoteAgent } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import { addressIn, isHttp, written } from './address.ts'
import type { DetectParts, Detected, Detector } from './detect.ts'
import { nameFrom } from './name.ts'
import { timeLimit } from './time-limit.ts'

export function a2aDetector(limitMs: number): Detector {
  return {
    kind: 'a2a',
    applies(target) {
      const url = addressIn(target)
      return url !== undefined && isHttp(url)
    },
    async detect(target, parts) {
      const url = addressIn(target) as URL
      const limit = timeLimit(limitMs, parts.signal)
      try {
        const agent = await connect(url, {
          fetch: parts.fetch,
          signal: limit.signal,
          bindings: [grpc()],
          limits: { cardTimeoutMs: limitMs, attempts: 1 },
          ...(parts.token !== undefined ? { bearer: parts.token.value } : {}),
        })
        return found(agent, url, parts)
      } catch (reason) {
        return { reasons: [whyNot(reason) ?? limit.reasonFor(reason)] }
      }
    },
  }
}

function found({ card, interface: chosen }: RemoteAgent, url: URL, { token }: DetectParts): Detected {
  const bearer = token === undefined ? {} : { auth: { bearer: token.reference } }
  return {
    kind: 'a2a',
    name: nameFrom(card.name, url.hostname),
    entry: { url: url.search === '' ? written(url) : url.href, ...bearer },
    notes: [
      `${card.name} speaks A2A ${chosen.protocolVersion} over ${chosen.protocolBinding}.`,
      ...(token === undefined ? credentialNotes(card) : []),
      ...originNotes(chosen.url, url),
    ],
  }
}

function credentialNotes({ securityRequirements = [], securitySchemes = {} }: AgentCard): readonly string[] {
  if (securityRequirements.length === 0) return []
  const schemes = Object.keys(securitySchemes).join(', ')
  return [`Its card says that callers have to say who they are (${schemes}): give the entry an \`auth\`.`]
}

/** What a card names is somebody else's word: the hub does not follow it into the inside of a network. */
function originNotes(at: string, url: URL): readonly string[] {
  if (!URL.canParse(at) || new URL(at).origin === url.origin) return []
  return [`Its card leads to ${at}: if that is inside your network, the entry needs \`allowPrivate: true\`.`]
}

function whyNot(reason: unknown): string | undefined {
  if (!(reason instanceof A2AError)) return undefined
  const { status } = reason.details
  if (reason.code === 'UNAUTHENTICATED' || reason.code === 'PERMISSION_DENIED') {
    return 'its agent card is for those who say who they are: give a token with --token-env'
  }
  if (status !== undefined) return `it has no agent card (${status})`
  return reason.code === 'CARD_NOT_FOUND' ? 'it has no agent card' : undefined
}
