/** Words of the notices: errors, loading and empty states. */
export const statusStrings = {
  openTaskOf: (agent: string) => `Open task of ${agent}`,
  tryAgain: 'Try again',
  copyDetails: 'Copy details',
  details: 'Details',
  loading: (what: string) => `Loading ${what}…`,
  /** Title and advice by error code. Without a title, the message of the hub is the title. */
  problems: {
    UNREACHABLE: {
      title: 'The hub cannot be reached',
      advice: 'It may be restarting. The console reconnects automatically.',
    },
    UNAUTHENTICATED: { advice: 'Sign in again to continue.' },
    PERMISSION_DENIED: { advice: 'Sign in with an admin key, or ask an admin of this hub.' },
    NOT_FOUND: { advice: 'It may have been removed. Check the address, or go back to the list.' },
    METHOD_NOT_ALLOWED: { advice: 'The console and the hub may have different versions. Reload the page.' },
    CONFLICT: { advice: 'Reload to see the current state, then try again.' },
    PAYLOAD_TOO_LARGE: { advice: 'Send less at once, or raise the limit in the configuration.' },
    UNSUPPORTED_MEDIA_TYPE: { advice: 'The console and the hub may have different versions. Reload the page.' },
    RATE_LIMITED: { advice: 'Wait a moment, then try again.' },
    UNAVAILABLE: {},
    INVALID_PARAMS: {},
    INTERNAL: {},
  },
  internal: { title: 'The hub failed to process the request', advice: 'The log of the hub has the cause.' },
  notFound: 'Not found',
} as const
