/** What the agent contract has to know of an agent and of what is behind it. */
import type { Agent } from '../../agents/agent.ts'

/** An agent over a backend that does as it is told. */
export interface AgentBench {
  readonly agent: Agent
  /** The same backend, and what the agent kept, seen by a process that has just started. */
  reopen(): Promise<Agent> | Agent
  close(): Promise<void>
}

export interface AgentHarness {
  /** Fresh for every test: its own backend, or its own corner of one. */
  open(): Promise<AgentBench>
  /** Makes it answer; `answer` is in the text of the answer. `pieces`: at least as many artifact events carry text, if it streams. */
  readonly chat: { readonly text: string; readonly answer: string | RegExp; readonly pieces?: number }
  /** Makes it work until it is stopped. `begun` resolves when the backend is at it, `stopped` when it has noticed the end. */
  readonly long: {
    readonly text: string
    begun(bench: AgentBench): Promise<void>
    stopped(bench: AgentBench): Promise<void>
  }
  /** Makes the backend fail. The task is FAILED, and says `shown` but never `hidden` (what is only for the operator). */
  readonly failing: { readonly text: string; readonly shown?: string | RegExp; readonly hidden?: string }
  /**
   * Tells it something, then asks for it in the same context. Left out by agents whose backend remembers nothing.
   * Another caller with the same contextId must not get `expects`.
   */
  readonly memory?: { readonly tell: string; readonly ask: string; readonly expects: string }
  /** Makes it ask back; `answer` is what it is told, `then` what it says after. */
  readonly question?: {
    readonly text: string
    readonly asks: string | RegExp
    readonly answer: string
    readonly then: string | RegExp
  }
  /**
   * What happens to `slow` when the process dies in the middle: finished with `answer`, each piece once (`reattach`), run
   * again (`rerun`), or FAILED with a reason (`fail`).
   */
  readonly resume: 'fail' | 'rerun' | 'reattach'
  readonly slow?: {
    readonly text: string
    readonly answer: string | RegExp
    begun(bench: AgentBench): Promise<void>
    /** Lets the backend go on after the restart, if it waits for that. */
    release?(bench: AgentBench): Promise<void> | void
  }
}
