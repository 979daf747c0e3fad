/** The words of the sign-in page. */

export const signInStrings = {
  title: 'Sign in to Parley',
  ended:
    'Your session has ended: it expired, its credentials changed, or an operator ended it. Sign in to continue; what you typed is kept.',
  host: (host: string, path: string | undefined) => (path === undefined ? host : `${host}, continues to ${path}`),
  withIssuer: (host: string) => `Sign in with ${host}`,
  or: 'or',
  key: 'Admin key',
  show: 'Show',
  hide: 'Hide',
  showKey: 'Show key',
  hideKey: 'Hide key',
  onMachine: 'On the machine of the hub, in its folder, ',
  openCommand: 'parley open',
  opensSignedIn: ' opens this page signed in. ',
  keyIsIn: 'The key is in ',
  keyFolder: ' in the data directory of the hub.',
  keyIsSetting: 'The key is the value of ',
  keySetting: 'admin.key',
  keyOr: ' or ',
  keyVariable: 'PARLEY_ADMIN_KEY',
  keyIsNotIn: 'There is no key in ',
  keyLost: '. If you lost it, stop the hub and create another with ',
  rotateCommand: 'parley key rotate admin',
  submit: 'Sign in',
} as const
