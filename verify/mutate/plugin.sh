# SPDX-License-Identifier: MIT
# plugin.sh: for mutate.sh and hand.sh: a changed copy of a variant's source as a plug-in. They set work (whose impl/ is the
# copy), kind (host or emulated), build and regather.

# variants_of SOURCE: the symbols of its variants, some of which macros make, asked of its object.
variants_of() {
    object=$build/${1%.*}.o
    [ "$kind" = host ] || object=$build/emulated/${1%.*}.o
    nm -g --defined-only "$object" | sed -n 's/.* [BDR] rg_\(variant\|emulated\)_\([a-z0-9_]*\)$/\2/p'
}

# compile SOURCE SO: the copy of the source in $work as a plug-in.
compile() {
    copy=$work/$1
    symbols=$(variants_of "$1" | sed 's/.*/\&RG_VARIANT_SYMBOL(&),/' | tr '\n' ' ')
    { cat "$copy" && echo "RG_PLUGIN = {${symbols}NULL};"; } > "$copy.plugin" || return 1
    needs=$(sed -n 's/.*\.needs *= *"\([a-z0-9]*\)".*/\1/p' "$copy" | sort -u | tail -n 1)
    if [ "$kind" = host ]; then
        # shellcheck disable=SC2046
        ${CC:-gcc} $("$regather" --cflags c $(echo "$needs" | grep avx) | sed "s|-I[^ ]*||") -O2 -g0 -w -Iimpl -x c \
            "$copy.plugin" -o "$2" 2> "$work/words"
    else
        # shellcheck disable=SC2046
        ${CXX:-g++} $("$regather" --cflags emulated | sed "s|-I[^ ]*||g") -g0 -w -I"$work/impl" -I"$work/impl/gpu/emulator" \
            "$copy.plugin" -o "$2.o" 2> "$work/words" && ${CXX:-g++} -shared "$2.o" -o "$2"
    fi
}

text_of() {
    objcopy -O binary --only-section='.text*' --only-section='.rodata*' --only-section='.data*' "$1" "$work/text" 2> /dev/null &&
        cksum < "$work/text"
}
