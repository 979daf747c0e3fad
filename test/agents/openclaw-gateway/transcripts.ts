/** What the fake gateway keeps on disk: the sessions, which outlive its restarts. */
export interface TranscriptEntry {
  readonly role: 'user' | 'assistant' | 'toolResult'
  readonly text: string
  readonly runId?: string
  readonly key?: string
  readonly stopReason?: string
}

export interface Transcripts {
  of(sessionKey: string): TranscriptEntry[]
  /** The texts of callers, for the responder. */
  userTexts(sessionKey: string): readonly string[]
  /** Runs that were interrupted by a shutdown and are resumed. */
  readonly interrupted: Map<string, string>
}

export function createTranscripts(): Transcripts {
  const sessions = new Map<string, TranscriptEntry[]>()
  const of = (sessionKey: string): TranscriptEntry[] => {
    const entries = sessions.get(sessionKey) ?? []
    sessions.set(sessionKey, entries)
    return entries
  }
  return {
    of,
    userTexts: (sessionKey) => of(sessionKey).flatMap(({ role, text }) => (role === 'user' ? [text] : [])),
    interrupted: new Map(),
  }
}

/** As `chat.history` shows them. */
export function formatEntries(entries: readonly TranscriptEntry[], limit: number): readonly object[] {
  return entries.slice(-limit).map(({ role, text, runId, key, stopReason }, index) => ({
    role,
    content: role === 'user' ? text : [{ type: 'text', text }],
    timestamp: 1_794_794_211_655 + index,
    ...(key !== undefined ? { idempotencyKey: `${key}:user` } : {}),
    ...(stopReason !== undefined ? { stopReason } : {}),
    __openclaw: { id: `m${index}`, seq: index + 1, ...(runId !== undefined ? { runId } : {}) },
  }))
}
