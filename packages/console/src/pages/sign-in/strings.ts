/** The words of the sign-in page. */

export const signInStrings = {
  documentTitle: 'Sign in · Parley',
  title: 'Sign in to Parley',
  host: (host: string, path: string | undefined) => (path === undefined ? host : `${host}, continues to ${path}`),
  withIssuer: (host: string) => `Sign in with ${host}`,
  or: 'or',
  key: 'Admin key',
  show: 'Show',
  hide: 'Hide',
  showKey: 'Show key',
  hideKey: 'Hide key',
  keyFrom: 'The hub printed it at its first start and wrote it to ',
  keyFile: 'parley.admin-key',
  keyFolder: ' in its data directory. Lost it? Set ',
  keySetting: 'admin.key',
  keyIn: ' in ',
  configFile: 'parley.yaml',
  keyOr: ' or ',
  keyVariable: 'PARLEY_ADMIN_KEY',
  keyRestart: ' and restart the hub.',
  submit: 'Sign in',
} as const
