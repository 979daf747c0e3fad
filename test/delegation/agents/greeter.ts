/** Greets. */
export default ({ text }: { readonly text: string }): string => `Hello, ${text}!`
