/** What a run may do, and what the operator knows of the agent. */
import type { BindingName, VersionName } from './verdict.ts'
import type { CheckResult, Target } from './report.ts'
import type { JsonObject } from './wire/spelling.ts'

export interface ConformanceOptions {
  /** Sends nothing that starts work or changes a task. Default false. */
  readonly readOnly?: boolean
  /** How many messages the run may send in total. Default 500. */
  readonly maxMessages?: number
  /** The public address under which the agent reaches the receiver of push notifications. Default: a port on loopback. */
  readonly receiverUrl?: string
  /** The port on which the receiver listens. Default: one that is free. */
  readonly receiverPort?: number
  readonly profile?: Profile
  /** Ids of checks, or beginnings of them such as `card`. Default: all. */
  readonly only?: readonly string[]
  readonly skip?: readonly string[]
  /** Default: each version that the agent's cards offer. */
  readonly versions?: readonly VersionName[]
  readonly bindings?: readonly BindingName[]
  /** Interfaces to test instead of those of the card. */
  readonly interfaces?: readonly Target[]
  /** Sent with every request, as headers or gRPC metadata. */
  readonly headers?: Readonly<Record<string, string>>
  /** Attached by the security schemes of the card. */
  readonly bearer?: string
  readonly apiKey?: string
  /** Accepts any certificate. */
  readonly insecure?: boolean
  /** Client certificate and certificate authority in PEM. */
  readonly tls?: { readonly cert?: string; readonly key?: string; readonly ca?: string }
  /** How many interfaces are checked at the same time. Default 1. */
  readonly parallel?: number
  /** How long one check may take. Default 30 seconds. */
  readonly checkTimeoutMs?: number
  /** How long to wait for what an agent should do, such as to call a webhook or to end a stream. Default 10 seconds. */
  readonly patienceMs?: number
  /** How long to wait for what an agent should not do, such as to end a stream too soon. Default 300 ms. */
  readonly quietMs?: number
  readonly signal?: AbortSignal
  /** Texts that appear in no report, besides the credentials above. */
  readonly secrets?: readonly string[]
  /** Called after each check. */
  readonly onResult?: (result: CheckResult) => void
  /** For the time and the duration in the report. */
  readonly now?: () => number
}

/** What a message makes a scripted agent do. */
export type Scenario =
  | 'complete'
  | 'artifact'
  | 'message'
  | 'inputRequired'
  | 'authRequired'
  | 'slow'
  | 'reject'
  | 'fail'
  | 'stream'

/** Hints of a scripted agent: without them the run takes what the agent shows of itself. */
export interface Profile {
  readonly name?: string
  /** The message that leads to each scenario. */
  readonly messages?: Partial<Readonly<Record<Scenario, MessageHint>>>
  /** The text of every other message. Default `Hello. This is a conformance test.` */
  readonly text?: string
  /** Headers of a second caller, to check that callers do not see each other's tasks. */
  readonly otherCaller?: { readonly headers: Readonly<Record<string, string>> }
  /** Ids of checks whose failure is known and accepted, with the reason. They are reported, and do not count for `--fail-on`. */
  readonly accepted?: Readonly<Record<string, string>>
}

export interface MessageHint {
  readonly text?: string
  /** Parts in the JSON of 1.0, instead of a text. */
  readonly parts?: readonly JsonObject[]
  /** The message id begins with it; the official test kit scripts its agents by that. */
  readonly messageIdPrefix?: string
  readonly metadata?: JsonObject
}
