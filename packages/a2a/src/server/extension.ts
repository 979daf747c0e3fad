/**
 * What a protocol extension is here: what the card says of it, and what it does to the messages and events of those who
 * ask for it. Nothing of it happens to anybody else.
 */
import type { StreamItem } from '../engine/contract.ts'
import type { Caller } from '../model/caller.ts'
import type { AgentExtension } from '../model/card.ts'
import type { Json, Message, Struct } from '../model/task.ts'

export interface Extension extends AgentExtension {
  /**
   * Sees each message before the agent does, and may answer another in its place; its ids and its role stay. An A2AError
   * that it throws is the answer to the call.
   */
  onMessage?(message: Message, about: MessageAbout): Message | undefined | void | Promise<Message | undefined | void>
  /**
   * What holds for the call that brings a message, beside what its caller may: where it comes from, and less time or fewer
   * rights than it would have. Asked if the message says something under the extension's URI. That is for the server alone:
   * neither the agent nor the log gets it, and it does not tell whether a message is one that came before. An A2AError that
   * it throws is the answer to the call.
   */
  onCall?(
    said: Json,
    message: Message,
    about: MessageAbout,
  ): CallTerms | undefined | void | Promise<CallTerms | undefined | void>
  /**
   * What to add to the metadata of an event, under the extension's URI (B-146). It must depend on the item alone: what it
   * answers is encoded once and shared by all readers who asked for the same extensions.
   */
  decorate?(item: StreamItem): Struct | undefined
}

export interface CallTerms {
  /** The task is ended by then: milliseconds since the epoch. */
  readonly deadlineAt?: number
  /** All that the caller holds in this call. */
  readonly scopes?: readonly string[]
  readonly skills?: readonly string[]
  /** Kept with the message, for the agent's turn to show. */
  readonly provenance?: Struct
}

export interface MessageAbout {
  readonly agent: string
  readonly tenant: string
  readonly caller: Caller
  /** All that are active for this request. */
  readonly extensions: readonly string[]
}

/** What the card says of it. */
export function declaration({ uri, description, required, params }: Extension): AgentExtension {
  return {
    uri,
    ...(description !== undefined ? { description } : {}),
    ...(required !== undefined ? { required } : {}),
    ...(params !== undefined ? { params } : {}),
  }
}
