/** The frameworks of `npm run kit -- --frameworks`, and what is known to fail. */

/** As a client: three agents of the hub. As an agent behind the hub: waiting for the task, and streaming it. */
export const cells = ['calls echo', 'calls a model', 'calls a loop', 'is called', 'is streamed'] as const

export type Cell = (typeof cells)[number]

export interface Framework {
  /** Of `frameworks/<name>_peer.py`. */
  readonly name: string
  /** Default: true. */
  readonly hasClient?: boolean
  /** The path of the agent's card, if it is not the usual one. */
  readonly card?: string
  /** The cells that fail by the framework's own doing. */
  readonly fails?: Readonly<Partial<Record<Cell, KnownFailure>>>
}

export interface KnownFailure {
  /** As the matrix shows it: a cell that fails in another way is a regression. */
  readonly result: string
  readonly reason: string
}

const emptyResult: KnownFailure = {
  result: "KeyError: 'artifacts'",
  reason: 'Its client calls the method of 0.3 and cannot read the result of 0.3.',
}
const lastChunk: KnownFailure = {
  result: 'reads "three", not "one two three"',
  reason: 'It keeps the last chunk of a streamed text, unless the agent has `closeWithWhole: true`.',
}

const spacedChunks: KnownFailure = {
  result: 'reads "one  two  three", not "one two three"',
  reason: 'It puts a space between the chunks of a text.',
}

export const frameworks: readonly Framework[] = [
  { name: 'strands' },
  { name: 'beeai' },
  { name: 'pydantic_ai', hasClient: false },
  {
    name: 'fasta2a',
    fails: { 'calls echo': emptyResult, 'calls a model': emptyResult, 'calls a loop': emptyResult },
  },
  {
    name: 'crewai',
    fails: {
      'calls a model': spacedChunks,
      'calls a loop': spacedChunks,
    },
  },
  { name: 'google_adk', fails: { 'calls a model': lastChunk, 'calls a loop': lastChunk } },
  {
    name: 'langgraph',
    hasClient: false,
    // The id that the server derives from the name of the graph, `agent`.
    card: '/a2a/fe096781-5601-53d2-b2f6-0d3403f7e9ca/.well-known/agent-card.json',
  },
]
