/** The control channel of a contestant: its settings, its port, its usage, announcements, and its end. */

/** The second argument of a contestant's program, as JSON. The first is the folder for its data. */
export interface ServerSettings {
  /** Default `sqlite`, where every commit is synced. */
  readonly store?: 'sqlite' | 'sqlite-normal' | 'memory' | 'postgres'
  /** The URL of an empty database, for `postgres`. */
  readonly database?: string
  /** Serves only the agent `stream`, also over gRPC. */
  readonly grpc?: boolean
  /** Takes the time at which announcements are in the log. */
  readonly timesAppends?: boolean
  /** Sends push notifications, also to loopback. */
  readonly push?: boolean
  /** A hub: the agents are those of the server at this address, called over A2A. */
  readonly upstream?: string
}

export const readSettings = (): { readonly directory: string; readonly settings: ServerSettings } => ({
  directory: process.argv[2] ?? '.',
  settings: JSON.parse(process.argv[3] ?? '{}') as ServerSettings,
})

export interface Usage {
  /** Resident now, and at most so far, in bytes. */
  readonly rss: number
  readonly maxRss: number
  /** Of this process, user and system, in microseconds. */
  readonly cpuMicros: number
}

export type ParentMessage =
  | { readonly order: 'usage'; readonly collect: boolean }
  | { readonly order: 'announce'; readonly text: string }
  | { readonly order: 'announced' }
  | { readonly order: 'close' }

export type ChildMessage =
  | { readonly port: number; readonly grpcPort?: number | undefined }
  | { readonly announced: number }
  | { readonly usage: Usage }
  | { readonly closed: true }

export interface ContestantServer {
  readonly port: number
  readonly grpcPort?: number | undefined
  announce(text: string): void
  /** When the last announcement was appended to the log, on `sharedClock`. Default: when it was given. */
  appendedAt?(): number
  close(): Promise<void> | void
}

function usage(collect: boolean): Usage {
  if (collect) globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  // `maxRSS` is in kilobytes.
  return { rss: process.memoryUsage.rss(), maxRss: process.resourceUsage().maxRSS * 1024, cpuMicros: user + system }
}

/** Milliseconds on the clock that all processes of a machine share, with their fraction. */
export const sharedClock = (): number => performance.timeOrigin + performance.now()

/** Reports the port to the benchmark, then handles its messages until it closes. */
export function runContestant({ port, grpcPort, announce, appendedAt, close }: ContestantServer): void {
  const say = (word: ChildMessage): void => void process.send?.(word)
  let announcedAt = 0
  process.on('message', (message: ParentMessage) => {
    if (message.order === 'usage') say({ usage: usage(message.collect) })
    else if (message.order === 'announced') say({ announced: appendedAt?.() ?? announcedAt })
    else if (message.order === 'announce') {
      announcedAt = sharedClock()
      announce(message.text)
    } else void Promise.resolve(close()).then(() => process.send?.({ closed: true }, () => process.exit(0)))
  })
  // The benchmark has exited: a server without a parent must not remain.
  process.on('disconnect', () => process.exit(0))
  say({ port, grpcPort })
}

export interface AnnouncementFeed {
  publish(text: string): void
  each(listener: (text: string) => void): () => void
}

/** Listeners that wait for the next announcement. The hub loads its agents as a module of its own, so the feed is here. */
export const announcementFeed: AnnouncementFeed = createAnnouncements()

function createAnnouncements(): AnnouncementFeed {
  const listeners = new Set<(text: string) => void>()
  return {
    publish: (text) => listeners.forEach((listener) => listener(text)),
    each(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
