/** Words for failed requests to the hub. */
export const apiStrings = {
  unreachable: 'The hub cannot be reached. It may be restarting.',
  unreachableAtSignIn: 'The hub cannot be reached. Is it running?',
  unexpectedStatus: (status: number) => `The hub answered with status ${status}.`,
  tooManyKeys: (seconds: number) =>
    `Too many wrong keys. Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
  wrongKey: 'This is not the admin key.',
  linkExpired: 'The link was used, or its minute has passed. Run parley open for another.',
} as const
