/**
 * A protocol extension: its declaration in the card, and its hooks for the messages and events of clients that request it. It has
 * no effect on other clients.
 */
import type { CallContext, StreamItem } from '../../engine/contract.ts'
import type { Caller } from '../../model/caller.ts'
import type { AgentExtension } from '../../model/card.ts'
import type { Json, Message, Struct } from '../../model/task.ts'

/** A protocol extension: its declaration in the card, and hooks that run for requests that activate it. */
export interface Extension extends AgentExtension {
  /**
   * Called with each message before the agent is; may return a replacement, whose ids and role are ignored. If it throws an
   * A2AError, the call fails with that error.
   */
  onMessage?(message: Message, about: MessageContext): Message | undefined | void | Promise<Message | undefined | void>
  /**
   * Returns constraints for the call that carries a message, beyond the permissions of its caller: provenance, a shorter deadline,
   * fewer scopes or skills. Called if the message has metadata under the extension's URI. That metadata is for the server alone: it
   * reaches neither the agent nor the log, and does not count when repeated messages are recognized. If it throws an A2AError, the
   * call fails with that error.
   */
  onCall?(
    said: Json,
    message: Message,
    about: MessageContext,
  ): CallConstraints | undefined | void | Promise<CallConstraints | undefined | void>
  /**
   * Returns metadata to add to an event, under the extension's URI (B-146). It must depend on the item alone: the result is encoded
   * once and shared by all readers with the same extensions.
   */
  decorate?(item: StreamItem): Struct | undefined
}

/**
 * Limits of one call, beyond the permissions of its caller. They can only narrow: the caller gets no scope or skill that it does not
 * have, and if there are several deadlines, the earliest counts.
 */
export interface CallConstraints {
  /** The deadline of the task, in milliseconds since the epoch. */
  readonly deadlineAt?: number
  /** The only scopes of the caller in this call, as far as it has them (`intersectScopes`). Default: those it has. */
  readonly scopes?: readonly string[]
  /** The only skills that the caller may use in this call, as far as it may use them. Default: those it may use. */
  readonly skills?: readonly string[]
  /** Stored with the message and passed to the agent's turn. */
  readonly provenance?: Struct
  /**
   * What the message presents, such as a signed token, opens one task: for `ttlMs`, a message with other content or of another
   * caller under the same `id` is refused with MESSAGE_ID_REUSED, by every process of the store. The same message is a repeat.
   * The task opens before the agent is called, as with `openAfterMs: 0`: a direct reply becomes the message of a COMPLETED task.
   */
  readonly singleUse?: NonNullable<CallContext['singleUse']>
}

/** The call that carries a message, as extensions see it. */
export interface MessageContext {
  readonly agent: string
  readonly tenant: string
  readonly caller: Caller
  /** All extensions that are active for this request. */
  readonly extensions: readonly string[]
}

/** The declaration for the card. */
export function extensionDeclaration({ uri, description, required, params }: Extension): AgentExtension {
  return {
    uri,
    ...(description !== undefined ? { description } : {}),
    ...(required !== undefined ? { required } : {}),
    ...(params !== undefined ? { params } : {}),
  }
}
