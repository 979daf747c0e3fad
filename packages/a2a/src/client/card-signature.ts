/**
 * Is this card by who it says it is by (B-31…B-33)? Loaded by those who ask. What a good signature does not cover is not
 * believed: the card that comes back is read from what was signed and from nothing beside it.
 */
import { clockOf } from '../model/clock.ts'
import type { AgentCard, AgentCardSignature } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import { decodeCard } from '../versions/decode-card.ts'
import { signedReadings } from '../versions/signed-card.ts'
import type { SignedReading } from '../versions/signed-card.ts'
import { encodeCard } from '../versions/v1_0/card.ts'
import { checkUrls } from './card-urls.ts'
import { sourceOf } from './card-source.ts'
import type { CardSignature, CheckedCard, ClientLimits, ClientLog, ConnectOptions, Fetch } from './contract.ts'
import { isUsable, knownAlgorithms, readHeader, verifyJws } from './jws.ts'
import { createKeyRing } from './trusted-keys.ts'

export interface CheckParts {
  readonly options: Pick<ConnectOptions, 'verify' | 'trust'>
  readonly fetch: Fetch
  readonly limits: Pick<ClientLimits, 'cardTimeoutMs' | 'maxCardBytes'>
  readonly log?: ClientLog | undefined
  /** Default: the system's clocks. A given one is also that of durations. */
  readonly now?: () => number
}

/** Rejects with INVALID_AGENT_RESPONSE, reason CARD_SIGNATURE, what the policy does not let pass. */
export type CardCheck = (card: AgentCard, signal?: AbortSignal) => Promise<CheckedCard>

/** Nobody needs more, and each may cost a request. */
const maxSignatures = 8

/** What became of one signature: `false` is proof that it is wrong, an Error says why nothing is known. */
type Outcome = { readonly reading: SignedReading; readonly proof: CardSignature } | false | Error

export function createCardCheck({ options, fetch, limits, log, ...clock }: CheckParts): CardCheck {
  const { now, monotonicNow } = clockOf(clock)
  const { verify = 'require', trust = {} } = options
  const allowed = trust.algorithms ?? knownAlgorithms
  const keys = createKeyRing({ trust, fetch, limits, monotonicNow })
  /** Where the public card came from: the extended one, which has no address, is judged by that. */
  let cardFrom: URL | undefined

  return async (card, signal = new AbortController().signal) => {
    const source = sourceOf(card)
    cardFrom = source?.from ?? cardFrom
    const { signatures = [] } = card
    if (signatures.length === 0) return pass(card, { status: 'unsigned' }, 'it is not signed')
    const readings = readingsOf(source?.document ?? encodeCard(card))
    const outcomes: Outcome[] = []
    for (const signature of signatures.slice(0, maxSignatures)) {
      const outcome = await judge(signature, readings, signal)
      if (outcome !== false && 'proof' in outcome)
        return { card: covered(card, outcome.reading), signature: outcome.proof }
      outcomes.push(outcome)
    }
    // Whoever has the key did not sign this.
    if (outcomes.includes(false)) throw refused('its signature is wrong: it was changed after it was signed')
    const why = [...new Set(outcomes.map((outcome) => (outcome as Error).message))].join('; ')
    return pass(card, { status: 'unverified', why }, `its signature cannot be checked: ${why}`)
  }

  function pass(card: AgentCard, signature: CardSignature, why: string): CheckedCard {
    if (verify === 'require') throw refused(why)
    log?.warn(`An agent card is used though ${why}`, { card: card.name })
    return { card, signature }
  }

  async function judge(
    signature: AgentCardSignature,
    readings: readonly SignedReading[],
    signal: AbortSignal,
  ): Promise<Outcome> {
    try {
      const header = readHeader(signature.protected, allowed)
      const { alg, kid } = header
      const found = await keys.find(header, cardFrom, signal)
      const usable = found.filter(({ key }) => isUsable(key, alg, now()))
      if (usable.length === 0) return new Error(`the key ${kid.slice(0, 100)} is not good for this, or not any more`)
      for (const { key, from } of usable) {
        for (const reading of readings) {
          if (await verifyJws(signature, reading.text, key, alg))
            return { reading, proof: { status: 'verified', kid, alg, keys: from, form: reading.form } }
        }
      }
      return false
    } catch (reason) {
      signal.throwIfAborted()
      return reason instanceof Error ? reason : new Error(String(reason))
    }
  }

  function covered(card: AgentCard, reading: SignedReading): AgentCard {
    const source = sourceOf(card)
    // One that came as the result of a call has been read already, and was judged by that reading.
    if (source === undefined) return card
    const { signatures } = card
    const read = { ...decodeCard(reading.covered), ...(signatures !== undefined ? { signatures } : {}) }
    return source.from === undefined ? read : checkUrls(read, source.from, log)
  }
}

/** Of a card of 0.x, which has no rule for it, only the whole document will do: its addresses are in no other reading. */
function readingsOf(document: { readonly [field: string]: unknown }): readonly SignedReading[] {
  try {
    return signedReadings(document).filter(({ covered, form }) => form === 'raw' || 'supportedInterfaces' in covered)
  } catch (cause) {
    // Nested deeper than the stack, or text that has no bytes: nobody signed that.
    throw new A2AError(
      'INVALID_AGENT_RESPONSE',
      'The agent card cannot be signed',
      { reason: 'CARD_SIGNATURE' },
      { cause },
    )
  }
}

function refused(why: string): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `The agent card is refused: ${why}`, { reason: 'CARD_SIGNATURE' })
}
