/** The configuration of a hub under torture: agents of every kind, most of which misbehave. */
import { join } from 'node:path'
import { stringify } from 'yaml'

export interface ConfigOptions {
  /** A model endpoint and an A2A agent of the harness. */
  readonly modelUrl: string
  readonly remoteUrl: string
  readonly folder: string
  /** Changes with each reload. */
  readonly revision: number
  /** With the agents that start a Node program: a hub waits for those before it listens. */
  readonly isHeavy: boolean
}

const modules = join(import.meta.dirname, 'agents.ts')
const programs = join(import.meta.dirname, '../agents/programs')

/** Records the message as received, with its id and attempt, then counts to three. */
const script =
  'IFS= read -r line; printf "%s\\n" "$line" >> "$LEDGER"; for n in 0 1 2; do printf \'{"type":"assistant","text":"%s "}\\n\' $n; sleep 0.02; done'

/** Verbs that the misbehaving programs and agents understand, by agent. */
export const misbehaviors: Readonly<Record<string, readonly string[]>> = {
  rogue: ['throw', 'late', 'hang', 'deaf', 'flood', 'lie'],
  crashing: ['now'],
  flooding: ['now'],
  garbling: ['now'],
  sleeping: ['now'],
  model: ['say', 'cut', 'hang', 'error', 'garbage'],
  looper: ['call', 'say', 'cut'],
  remote: ['20 5', 'throw'],
}

/** The same of agents that start a Node program. */
export const heavyMisbehaviors: Readonly<Record<string, readonly string[]>> = {
  coder: ['echo hi', 'fail', 'exit', 'debris'],
  tools: ['hello'],
}

export const ledgerOf = (folder: string): string => join(folder, 'ledger.jsonl')
export const scriptLedgerOf = (folder: string): string => join(folder, 'script-ledger.jsonl')

export function configOf({ modelUrl, remoteUrl, folder, revision, isHeavy }: ConfigOptions): string {
  const description = `Revision ${revision}`
  const sh = (line: string, more: object = {}): object => ({
    kind: 'command',
    command: ['sh', '-c', line],
    timeout: '3s',
    killGrace: '200ms',
    ...more,
  })
  const node = (...args: readonly string[]): readonly string[] => [process.execPath, ...args]
  const module = (name: string, more: object = {}): object => ({ kind: 'module', path: modules, export: name, ...more })
  const limited = { timeout: '3s' }
  const programAgents = {
    coder: { kind: 'acp', command: node(join(programs, 'acp-agent.ts')), env: { BENCH: folder }, ...limited },
    tools: { kind: 'mcp', command: node(join(programs, 'mcp-server.ts'), folder), allow: ['say'], ...limited },
  }
  return stringify({
    listen: { grpcPort: false },
    admin: { key: 'a key that only the torture run knows' },
    limits: {
      perKey: '1000000/s',
      perAddress: '1000000/s',
      tasksPerCaller: 1_000_000,
      streamsPerCaller: 100_000,
    },
    push: {
      allow: ['127.0.0.1'],
      triggers: 'all',
      timeout: '2s',
      schedule: Array.from({ length: 2_000 }, () => '50ms'),
    },
    telemetry: { logs: { level: 'warn', format: 'json' } },
    agents: {
      counter: module('counter', { description, default: true }),
      fragile: module('fragile'),
      asker: module('asker'),
      rogue: module('misbehavingAgent', limited),
      script: sh(script, {
        protocol: 'jsonl',
        resume: 'rerun',
        timeout: '5m',
        env: { LEDGER: scriptLedgerOf(folder) },
      }),
      crashing: sh('kill -SEGV $$'),
      flooding: sh('head -c 3000000 /dev/zero | tr "\\0" x', { outputLimit: '1MB' }),
      garbling: sh('echo "{no json"; echo "[1,2"', { protocol: 'jsonl' }),
      sleeping: sh('echo started; sleep 600'),
      model: { kind: 'openai', baseUrl: modelUrl, model: 'scripted', ...limited },
      looper: { kind: 'loop', model: 'model', tools: [{ agent: 'counter' }], timeout: '20s' },
      remote: { kind: 'a2a', url: remoteUrl, ...limited },
      ...(isHeavy ? programAgents : {}),
    },
  })
}
