/** Common emoji by group, each with the words that find it. A separate file, so that it is loaded when it is needed. */
const GROUPS: Record<string, string> = {
  '😀': `😀 grinning happy smile|😃 smile happy|😄 laugh happy smile|😁 grin teeth|😅 sweat relief|😂 joy laugh tears|🤣 rofl laugh|🙂 smile|🙃 upside down|😉 wink|😊 blush smile|😇 angel halo|🥰 love hearts|😍 heart eyes love|🤩 star eyes wow|😘 kiss|😋 yum tasty|😛 tongue|😜 crazy wink tongue|🤪 zany|🤗 hug|🤭 oops giggle|🤫 quiet shh|🤔 think hmm|🫡 salute|🤐 zip mouth|😐 neutral|😶 no mouth|😏 smirk|😒 unamused|🙄 eye roll|😬 grimace|😌 relieved|😔 sad pensive|😴 sleep|😷 mask sick|🤒 fever sick|🤯 mind blown|🥳 party celebrate|😎 cool sunglasses|🤓 nerd|🧐 monocle|😕 confused|😟 worried|🙁 frown sad|😮 wow surprised|😳 flushed|🥺 please puppy|😢 cry sad|😭 sob cry|😱 scream fear|😤 huff|😡 angry mad|🤬 swear|💀 skull dead|💩 poop|🤡 clown|👻 ghost|🤖 robot|😺 cat smile`,
  '👍': `👍 thumbs up yes like ok|👎 thumbs down no|👌 ok perfect|✌️ peace victory|🤞 fingers crossed luck|🤟 love you|🤘 rock|👈 left|👉 right|👆 up|👇 down|☝️ one point|👋 wave hello bye|🤚 hand stop|✋ stop hand high five|🖖 vulcan|👏 clap applause|🙌 hands praise hooray|🫶 heart hands|🙏 please thanks pray|🤝 handshake deal|💪 strong muscle|✍️ write|👀 eyes look|🧠 brain|👶 baby|🧑 person|👩‍💻 developer laptop|👨‍💻 developer laptop|🧑‍🎨 artist design|🕺 dance|💃 dance|🏃 run|🧘 yoga calm`,
  '❤️': `❤️ heart love red|🧡 heart orange|💛 heart yellow|💚 heart green|💙 heart blue|💜 heart purple|🖤 heart black|🤍 heart white|💔 broken heart|💯 hundred perfect|✅ check done yes|❌ cross no wrong|❓ question|❗ exclamation important|⚠️ warning|🔥 fire hot lit|✨ sparkles new|⭐ star|🌟 star glow|💥 boom|🎉 party tada celebrate|🎊 confetti|🎈 balloon|🎁 gift present|🏆 trophy win|🥇 gold medal first|🚀 rocket launch ship|💡 idea bulb|🔔 bell|📌 pin|📎 paperclip|🔒 lock|🔑 key|🛠️ tools fix|🐛 bug|📈 chart up|📉 chart down|📅 calendar date|⏰ alarm clock|⏳ hourglass wait|💬 speech chat|📣 megaphone announce|📷 camera photo|💻 laptop computer|📱 phone|✉️ mail letter|📦 package box|💰 money|🎵 music|🎮 game`,
  '🐶': `🐶 dog|🐱 cat|🐭 mouse|🦊 fox|🐻 bear|🐼 panda|🦁 lion|🐸 frog|🐵 monkey|🙈 see no evil monkey|🐔 chicken|🐧 penguin|🦄 unicorn|🐝 bee|🦋 butterfly|🐢 turtle|🐙 octopus|🐳 whale|🌱 seedling plant|🌳 tree|🌵 cactus|🌸 blossom flower|🌹 rose|🌻 sunflower|🍀 clover luck|🌈 rainbow|☀️ sun|🌤️ cloud sun|🌧️ rain|⛈️ storm|❄️ snow cold|🌊 wave sea|🌙 moon night|🌍 earth world`,
  '🍎': `🍎 apple|🍊 orange|🍋 lemon|🍌 banana|🍉 melon|🍇 grapes|🍓 strawberry|🍑 peach|🥑 avocado|🌶️ pepper spicy hot|🥐 croissant|🍞 bread|🧀 cheese|🍳 egg breakfast|🥗 salad|🍔 burger|🍟 fries|🍕 pizza|🌮 taco|🍜 noodles ramen lunch|🍣 sushi|🍰 cake|🎂 birthday cake|🍪 cookie|🍫 chocolate|🍿 popcorn|☕ coffee|🍵 tea|🍺 beer|🍻 cheers beer|🥂 toast cheers|🍷 wine|🧃 juice`,
  '⚽': `⚽ football soccer|🏀 basketball|🎾 tennis|🏐 volleyball|🏓 ping pong|🎯 target dart|🎲 dice|🧩 puzzle|🎨 art paint|🎸 guitar|🚗 car|🚌 bus|🚲 bike|✈️ plane travel|🚆 train|🚢 ship|🏠 home house|🏢 office|🏖️ beach holiday|⛰️ mountain|🗺️ map|🏁 finish flag`,
}

export interface Emoji {
  emoji: string
  words: string
}

export const EMOJI: [group: string, emoji: Emoji[]][] = Object.entries(GROUPS).map(
  ([group, list]) => [
    group,
    list.split('|').map((entry) => {
      const at = entry.indexOf(' ')
      return { emoji: entry.slice(0, at), words: entry.slice(at + 1) }
    }),
  ],
)
