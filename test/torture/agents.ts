/**
 * The module agents of a torture run: some do work that a log can be checked by, the others misbehave. Each call is
 * recorded first in a ledger, a file to which all processes append one line per call.
 */
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact, inputRequired, status } from '@parley/a2a'
import type { Agent, Report, Turn } from '@parley/a2a'
import { createCounter, createFragileCounter } from '../cluster/counter-agent.ts'

const ledger = process.env['PARLEY_TORTURE_LEDGER'] ?? '/dev/null'
const by = `${process.pid}-${process.hrtime.bigint()}`

function note(agent: string, { message, resumed }: Turn): void {
  const line = { agent, messageId: message.messageId, attempt: attemptOf({ resumed }), by, atNs: atNs() }
  appendFileSync(ledger, `${JSON.stringify(line)}\n`)
}

function attemptOf({ resumed }: Pick<Turn, 'resumed'>): number {
  return resumed?.attempt ?? 1
}

/** CLOCK_MONOTONIC, which all processes of a machine share; the wall clock is stepped. */
function atNs(): number {
  return Number(process.hrtime.bigint())
}

export const counter = createCounter(by, (turn) => note('counter', turn))
export const fragile = createFragileCounter(by, (turn) => note('fragile', turn))

/** Two turns: asks for input, then answers with it. */
export const asker: Agent = {
  resume: 'rerun',
  async *run(turn: Turn): AsyncGenerator<Report> {
    note('asker', turn)
    const said = (await turn.history()).filter(({ role }) => role === 'ROLE_USER')
    if (said.length < 2) yield inputRequired('And?')
    else yield artifact('answer', { text: turn.text, last: true, metadata: { by, attempt: attemptOf(turn) } })
  },
}

/** What the text asks for: `throw`, `late` (throws after some words), `hang`, `deaf`, `flood`, `lie`. */
export async function* misbehavingAgent(turn: Turn): AsyncGenerator<Report> {
  note('rogue', turn)
  const { text, signal } = turn
  const [verb] = text.split(' ')
  if (verb === 'throw') throw new Error('thrown at once')
  yield status('Working')
  if (verb === 'late') {
    yield 'some words'
    throw new Error('thrown late')
  }
  // One stops when its signal aborts, the other never does.
  if (verb === 'hang') await sleep(600_000, undefined, { signal })
  if (verb === 'deaf') await new Promise(() => {})
  if (verb === 'flood') for (let n = 0; n < 400 && !signal.aborted; n += 1) yield 'x'.repeat(1_000)
  if (verb === 'lie') yield { artifactId: 'never begun', append: true, parts: [{ text: 'x', url: 'y' }] } as never
}
