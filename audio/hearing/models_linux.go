package hearing

// systemModelDir is where the Debian and Ubuntu packages install the models.
const systemModelDir = "/usr/share/pocketsphinx/model"
