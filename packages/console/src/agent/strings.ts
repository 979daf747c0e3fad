/** Words about agents that several pages show. */
export const agentStrings = {
  down: {
    label: (agent: string) => `State of ${agent}`,
    notStarted: (agent: string) => `${agent} failed to start`,
    notReachable: (agent: string) => `${agent} is not reachable`,
    blocked: (agent: string) => `Calls to ${agent} are blocked`,
    blockedAdvice:
      'Its card has changed since it was approved. Compare the cards, and approve the new one if you expect the change.',
    failing: (agent: string) => `${agent} failed several times in a row`,
    failingAdvice: 'Other agents do not delegate to it for a while. Messages that you send still reach it.',
    reachableAdvice: 'Check that it is running and that its URL and credentials are correct.',
    startAdvice: 'Messages are refused until it starts. Check its settings and the log of the hub.',
    retryingIn: (time: string) => `Retrying in ${time}`,
    retrying: 'Retrying…',
    notRetrying: 'Not retrying',
    attempts: (count: string) => `${count} failed`,
    attempt: (count: number) => (count === 1 ? '1 attempt' : `${count.toLocaleString('en-US')} attempts`),
    since: 'since',
    retryNow: 'Retry now',
    stop: 'Stop retrying',
    reviewCard: 'Review card',
    open: 'Open agent',
    back: (agent: string) => `${agent} is available again`,
    stillDown: (agent: string) => `${agent} is still not available`,
    stopped: (agent: string) => `Stopped retrying ${agent}`,
  },
} as const
