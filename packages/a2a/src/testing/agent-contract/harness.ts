/** What the agent contract has to know of an agent and of what is behind it. */
import type { Agent } from '../../agents/agent.ts'

/** An agent over a backend that does as it is told. */
export interface AgentBench {
  readonly agent: Agent
  /**
   * The same backend, and what the agent kept, seen by a process that has just started. The one before was killed: it
   * was not told, and may still hold on to what it had open. Let go of that in `close`.
   */
  reopen(): Promise<Agent> | Agent
  /** Nothing runs any more: what is still open now would be open for ever. */
  close(): Promise<void>
}

/** What is said, and what the text of the answer has in it or looks like. */
export interface Exchange {
  readonly text: string
  readonly answer: string | RegExp
}

export interface AgentHarness<Bench extends AgentBench = AgentBench> {
  /** Fresh for every test: its own backend, or its own corner of one. */
  open(): Promise<Bench>
  /** Makes it answer; `answer` is in the text of the answer. `pieces`: at least as many artifact events carry text, if it streams. */
  readonly chat: Exchange & { readonly pieces?: number }
  /** The same with a word in it that the answer has too: tells the answers of many tasks at once apart. */
  readonly each?: (word: string) => Exchange
  /** Makes it work until it is stopped. `begun` resolves when the backend is at it, `stopped` when it has noticed the end. */
  readonly long: {
    readonly text: string
    begun(bench: Bench): Promise<void>
    stopped(bench: Bench): Promise<void>
  }
  /** Makes the backend fail. The task is FAILED, and says `shown` but never `hidden` (what is only for the operator). */
  readonly failing: { readonly text: string; readonly shown?: string | RegExp; readonly hidden?: string }
  /**
   * Tells it something, then asks for it in the same context. Left out by agents whose backend remembers nothing.
   * Another caller with the same contextId must not get `expects`. `lasts: false` says that it is gone with the process.
   */
  readonly memory?: { readonly tell: string; readonly ask: string; readonly expects: string; readonly lasts?: boolean }
  /** Makes it ask back; `answer` is what it is told, `then` what it says after. */
  readonly question?: {
    readonly text: string
    readonly asks: string | RegExp
    readonly answer: string
    readonly then: string | RegExp
  }
  /**
   * What happens to `slow` when the process dies in the middle: finished with `answer`, each piece once (`reattach`), run
   * again (`rerun`), or FAILED with a reason (`fail`). Agents that cannot always go on say `fail`.
   */
  readonly resume: 'fail' | 'rerun' | 'reattach'
  /** Needed unless it fails at a restart. Write `answer` from ^ to $, so that a piece that came twice is seen. */
  readonly slow?: Exchange & {
    begun(bench: Bench): Promise<void>
    /** Lets the backend go on after the restart, if it waits for that. */
    release?(bench: Bench): Promise<void> | void
  }
  /** For the test of the deadline: longer than the backend takes to begin. Default 1.5 s. */
  readonly deadlineMs?: number
  /** How long anything may take before it counts as never. Default 60 s. */
  readonly patienceMs?: number
}
