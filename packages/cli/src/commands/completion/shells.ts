/** The shells that completion supports. */
export const shells = ['bash', 'zsh', 'fish'] as const
