/** The words of the about page. */
export const aboutStrings = {
  loading: '…',
  hub: {
    title: 'Hub',
    version: 'Version',
    versionValue: (version: string) => `Parley ${version}`,
    node: 'Node',
    protocols: 'A2A versions',
    instance: 'Instance',
    instanceId: 'instance',
    started: 'Started',
    address: 'Address',
    user: 'Signed in as',
    until: 'Signed in until',
  },
  theme: {
    title: 'Theme',
    system: 'System',
    light: 'Light',
    dark: 'Dark',
  },
  programs: {
    title: 'API and command line',
    hint: 'The console uses only the admin API: your programs can do everything that you can do here.',
    openApi: 'OpenAPI 3.1 document',
    help: 'List the commands',
    check: 'Check the configuration',
    document: 'Get the OpenAPI document',
    helpCommand: 'parley help',
    checkCommand: 'parley config check',
  },
  shortcuts: {
    title: 'Keyboard shortcuts',
    before: 'Press',
    after: 'on any page for the shortcuts of that page.',
  },
} as const
