/** What a turn must remember to be taken up again: written before the gateway is asked for anything. */
import type { Turn } from '@parley/a2a'
import { fieldsOf, numberIn, textIn, textsIn } from './wire.ts'

export type Method = 'agent' | 'chat.send'

export interface Plan {
  /** 1 for the first turn of the task. */
  readonly turn: number
  readonly way: 'ws' | 'http'
  readonly method: Method
  /** The request's key at the gateway, which is the id of the run too. */
  readonly key: string
  readonly sessionKey: string
  /** Which start of the gateway the request went to. */
  readonly bootId: string
  /** Approvals that the caller was asked for, in order. */
  readonly approvals: readonly string[]
}

/** The turns of a task are counted by what the ones before this one left. */
export function turnNumber({ remembered }: Pick<Turn, 'remembered'>): number {
  return (numberIn(fieldsOf(remembered), 'turn') ?? 0) + 1
}

export function keyOf(taskId: string, turn: number): string {
  return `${taskId}-${turn}`
}

export function readPlan(checkpoint: unknown): Plan | undefined {
  const fields = fieldsOf(checkpoint)
  const [key, sessionKey, bootId] = ['key', 'sessionKey', 'bootId'].map((name) => textIn(fields, name))
  if (key === undefined || sessionKey === undefined || bootId === undefined) return undefined
  return {
    turn: numberIn(fields, 'turn') ?? 1,
    way: fields['way'] === 'http' ? 'http' : 'ws',
    method: fields['method'] === 'chat.send' ? 'chat.send' : 'agent',
    key,
    sessionKey,
    bootId,
    approvals: textsIn(fields, 'approvals'),
  }
}

/** The engine calls a plain answer so; a task's second turn has its own. */
export function answerName(turn: number): string {
  return turn > 1 ? `answer-${turn}` : 'answer'
}
