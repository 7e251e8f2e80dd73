/** The texts of emails around the messages themselves. */

export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar'] as const
export type Language = (typeof LANGUAGES)[number]

interface Strings {
  newMessages(count: number): string
  inGroup(name: string): string
  from(name: string): string
  more(count: number): string
  open: string
  reply: string
  why(app: string): string
  unsubscribe: string
  image: string
  video: string
  audio: string
  file: string
  unsubscribed: string
  unsubscribedHint: string
  confirm: string
  confirmHint(address: string): string
}

const en: Strings = {
  newMessages: (count) => (count === 1 ? '1 new message' : `${count} new messages`),
  inGroup: (name) => `in ${name}`,
  from: (name) => `from ${name}`,
  more: (count) => (count === 1 ? 'and 1 more message' : `and ${count} more messages`),
  open: 'Open conversation',
  reply: 'You can answer by replying to this email.',
  why: (app) => `You receive this email because you have unread messages in ${app}.`,
  unsubscribe: 'Unsubscribe',
  ...{ image: 'Image', video: 'Video', audio: 'Audio', file: 'File' },
  unsubscribed: 'You are unsubscribed',
  unsubscribedHint: 'You will get no more emails about unread messages at this address.',
  confirm: 'Unsubscribe',
  confirmHint: (address) => `Stop emails about unread messages to ${address}?`,
}

const de: Strings = {
  newMessages: (count) => (count === 1 ? '1 neue Nachricht' : `${count} neue Nachrichten`),
  inGroup: (name) => `in ${name}`,
  from: (name) => `von ${name}`,
  more: (count) => (count === 1 ? 'und 1 weitere Nachricht' : `und ${count} weitere Nachrichten`),
  open: 'Unterhaltung öffnen',
  reply: 'Sie können auf diese E-Mail antworten.',
  why: (app) => `Sie erhalten diese E-Mail, weil Sie in ${app} ungelesene Nachrichten haben.`,
  unsubscribe: 'Abbestellen',
  ...{ image: 'Bild', video: 'Video', audio: 'Audio', file: 'Datei' },
  unsubscribed: 'Sie haben die E-Mails abbestellt',
  unsubscribedHint: 'An diese Adresse kommen keine E-Mails über ungelesene Nachrichten mehr.',
  confirm: 'Abbestellen',
  confirmHint: (address) => `Keine E-Mails über ungelesene Nachrichten mehr an ${address}?`,
}

const fr: Strings = {
  newMessages: (count) => (count === 1 ? '1 nouveau message' : `${count} nouveaux messages`),
  inGroup: (name) => `dans ${name}`,
  from: (name) => `de ${name}`,
  more: (count) => (count === 1 ? 'et 1 autre message' : `et ${count} autres messages`),
  open: 'Ouvrir la conversation',
  reply: 'Vous pouvez répondre à cet e-mail.',
  why: (app) => `Vous recevez cet e-mail parce que vous avez des messages non lus dans ${app}.`,
  unsubscribe: 'Se désabonner',
  ...{ image: 'Image', video: 'Vidéo', audio: 'Audio', file: 'Fichier' },
  unsubscribed: 'Vous êtes désabonné',
  unsubscribedHint: 'Cette adresse ne recevra plus d’e-mails sur les messages non lus.',
  confirm: 'Se désabonner',
  confirmHint: (address) => `Ne plus envoyer d’e-mails sur les messages non lus à ${address} ?`,
}

const es: Strings = {
  newMessages: (count) => (count === 1 ? '1 mensaje nuevo' : `${count} mensajes nuevos`),
  inGroup: (name) => `en ${name}`,
  from: (name) => `de ${name}`,
  more: (count) => (count === 1 ? 'y 1 mensaje más' : `y ${count} mensajes más`),
  open: 'Abrir la conversación',
  reply: 'Puedes responder a este correo.',
  why: (app) => `Recibes este correo porque tienes mensajes sin leer en ${app}.`,
  unsubscribe: 'Cancelar la suscripción',
  ...{ image: 'Imagen', video: 'Vídeo', audio: 'Audio', file: 'Archivo' },
  unsubscribed: 'Has cancelado la suscripción',
  unsubscribedHint: 'Esta dirección ya no recibirá correos sobre mensajes sin leer.',
  confirm: 'Cancelar la suscripción',
  confirmHint: (address) => `¿Dejar de enviar correos sobre mensajes sin leer a ${address}?`,
}

const pt: Strings = {
  newMessages: (count) => (count === 1 ? '1 nova mensagem' : `${count} novas mensagens`),
  inGroup: (name) => `em ${name}`,
  from: (name) => `de ${name}`,
  more: (count) => (count === 1 ? 'e mais 1 mensagem' : `e mais ${count} mensagens`),
  open: 'Abrir a conversa',
  reply: 'Pode responder a este e-mail.',
  why: (app) => `Recebe este e-mail porque tem mensagens por ler em ${app}.`,
  unsubscribe: 'Cancelar a subscrição',
  ...{ image: 'Imagem', video: 'Vídeo', audio: 'Áudio', file: 'Ficheiro' },
  unsubscribed: 'A subscrição foi cancelada',
  unsubscribedHint: 'Este endereço não receberá mais e-mails sobre mensagens por ler.',
  confirm: 'Cancelar a subscrição',
  confirmHint: (address) => `Deixar de enviar e-mails sobre mensagens por ler para ${address}?`,
}

const ja: Strings = {
  newMessages: (count) => `新しいメッセージ ${count} 件`,
  inGroup: (name) => `${name}`,
  from: (name) => `${name} さんから`,
  more: (count) => `ほか ${count} 件のメッセージ`,
  open: '会話を開く',
  reply: 'このメールに返信できます。',
  why: (app) => `${app} に未読メッセージがあるため、このメールをお送りしています。`,
  unsubscribe: '配信停止',
  ...{ image: '画像', video: '動画', audio: '音声', file: 'ファイル' },
  unsubscribed: '配信を停止しました',
  unsubscribedHint: 'このアドレスには未読メッセージのメールは届きません。',
  confirm: '配信停止',
  confirmHint: (address) => `${address} への未読メッセージのメールを停止しますか。`,
}

const ar: Strings = {
  newMessages: (count) => `الرسائل الجديدة: ${count}`,
  inGroup: (name) => `في ${name}`,
  from: (name) => `من ${name}`,
  more: (count) => `ورسائل أخرى: ${count}`,
  open: 'فتح المحادثة',
  reply: 'يمكنك الرد على هذه الرسالة الإلكترونية.',
  why: (app) => `وصلتك هذه الرسالة لأن لديك رسائل غير مقروءة في ${app}.`,
  unsubscribe: 'إلغاء الاشتراك',
  ...{ image: 'صورة', video: 'فيديو', audio: 'صوت', file: 'ملف' },
  unsubscribed: 'تم إلغاء اشتراكك',
  unsubscribedHint: 'لن تصل إلى هذا العنوان رسائل أخرى عن الرسائل غير المقروءة.',
  confirm: 'إلغاء الاشتراك',
  confirmHint: (address) => `هل تريد إيقاف الرسائل الإلكترونية إلى ${address}؟`,
}

const all: Record<Language, Strings> = { en, de, fr, es, pt, ja, ar }

export const stringsOf = (language: Language): Strings => all[language]

export const directionOf = (language: Language) => (language === 'ar' ? 'rtl' : 'ltr')
