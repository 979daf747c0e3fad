/** What the agent contract needs to know of an agent and its backend. */
import type { Agent } from '../../agents/agent.ts'

/** An agent over a backend that the test controls. */
export interface AgentUnderTest {
  readonly agent: Agent
  /**
   * The same backend and the data that the agent kept, seen by a process that has just started. The previous process was
   * killed: it got no notice, and may still hold what it had open. Release that in `close`.
   */
  reopen(): Promise<Agent> | Agent
  /** Releases everything, also what a killed process still held. Nothing runs any more when it is called. */
  close(): Promise<void>
}

/** The text to send, and what the text of the response contains or matches. */
export interface AgentExchange {
  readonly text: string
  readonly answer: string | RegExp
}

/** How the contract suite makes an agent answer, work, fail, remember and ask. Each text is sent as a message. */
export interface AgentHarness<Bench extends AgentUnderTest = AgentUnderTest> {
  /** Fresh for every test: its own backend, or its own part of one. */
  open(): Promise<Bench>
  /**
   * Makes it respond; the text of the response contains `answer`. `pieces`: at least as many artifact events carry text, if it
   * streams.
   */
  readonly chat: AgentExchange & { readonly pieces?: number }
  /** The same with a word that the response contains too: tells the responses of concurrent tasks apart. */
  readonly each?: (word: string) => AgentExchange
  /** Makes it work until it is stopped. `begun` resolves when the backend is working, `stopped` when it has noticed the end. */
  readonly long: {
    readonly text: string
    begun(bench: Bench): Promise<void>
    stopped(bench: Bench): Promise<void>
  }
  /**
   * Makes the backend fail. The task is FAILED, and its message contains `shown` but never `hidden` (which is only for the
   * operator).
   */
  readonly failing: { readonly text: string; readonly shown?: string | RegExp; readonly hidden?: string }
  /**
   * Sends a fact, then asks for it in the same context. Omitted for agents whose backend has no memory. Another caller with the
   * same contextId must not get `expects`. `lasts: false`: the memory ends with the process.
   */
  readonly memory?: { readonly tell: string; readonly ask: string; readonly expects: string; readonly lasts?: boolean }
  /** Makes it ask for input; `answer` is sent to it, `then` is its response afterwards. */
  readonly question?: {
    readonly text: string
    readonly asks: string | RegExp
    readonly answer: string
    readonly then: string | RegExp
  }
  /**
   * What happens to `slow` if the process dies in the middle: finished with `answer`, each piece once (`reattach`), run again
   * (`rerun`), or FAILED with a reason (`fail`). Agents that cannot always continue use `fail`.
   */
  readonly resume: 'fail' | 'rerun' | 'reattach'
  /** Required unless `resume` is `fail`. Write `answer` from ^ to $, so that a repeated piece is detected. */
  readonly slow?: AgentExchange & {
    begun(bench: Bench): Promise<void>
    /** Lets the backend continue after the restart, if it waits for that. */
    release?(bench: Bench): Promise<void> | void
  }
  /** For the test of the deadline: longer than the backend takes to begin. Default 1.5 s. */
  readonly deadlineMs?: number
  /** How long a step may take before it counts as stuck. Default 120 s. */
  readonly stepTimeoutMs?: number
}
