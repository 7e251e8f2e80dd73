/** A fault that the person at the keyboard can mend: shown as its message, without a stack. */
export class UserError extends Error {}
