/** What a turn needs to be resumed; stored before the gateway gets any request. */
import type { Turn } from '@parley/a2a'
import { asFields, numberField, stringField, stringListField } from './gateway/frames.ts'

export type RunMethod = 'agent' | 'chat.send'

export interface RunPlan {
  /** 1 for the first turn of the task. */
  readonly turn: number
  readonly way: 'ws' | 'http'
  readonly method: RunMethod
  /** The idempotency key of the request, which is also the id of the run. */
  readonly key: string
  readonly sessionKey: string
  /** The start of the gateway that the request was sent to. */
  readonly bootId: string
  /** Approvals that the caller was asked for, in order. */
  readonly approvals: readonly string[]
}

/** Counts the turns of a task by the checkpoint of the previous one. */
export function turnNumber({ lastCheckpoint }: Pick<Turn, 'lastCheckpoint'>): number {
  return (numberField(asFields(lastCheckpoint), 'turn') ?? 0) + 1
}

export function runKey(taskId: string, turn: number): string {
  return `${taskId}-${turn}`
}

export function readRunPlan(checkpoint: unknown): RunPlan | undefined {
  const fields = asFields(checkpoint)
  const [key, sessionKey, bootId] = ['key', 'sessionKey', 'bootId'].map((name) => stringField(fields, name))
  if (key === undefined || sessionKey === undefined || bootId === undefined) return undefined
  return {
    turn: numberField(fields, 'turn') ?? 1,
    way: fields['way'] === 'http' ? 'http' : 'ws',
    method: fields['method'] === 'chat.send' ? 'chat.send' : 'agent',
    key,
    sessionKey,
    bootId,
    approvals: stringListField(fields, 'approvals'),
  }
}

/** The engine's id of a plain answer; later turns of a task have their own. */
export function answerArtifactId(turn: number): string {
  return turn > 1 ? `answer-${turn}` : 'answer'
}
